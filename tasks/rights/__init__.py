"""What a page claims and contains besides its text: licence, reserved rights, language, quality and personal data."""
