// The start of the page.
import { render } from 'preact';
import { App } from './app';
import { readTheme, showTheme } from './theme';

showTheme(readTheme()); // before the first paint

const root = document.getElementById('console');
if (root) render(<App />, root);
