"""From an answer to what is drawn: layouts, colours and draw lists, without any Qt."""
