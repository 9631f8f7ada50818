"""What each page of the dashboard says, as plain records: pages lay them out, notebooks can print them."""
