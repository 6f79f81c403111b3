// The start of the page.
import { render } from 'preact';
import { App } from './app';
import { guardDrafts } from './key';
import { printLight, readTheme, showTheme } from './theme';
import { restoreTyped } from './typed';

showTheme(readTheme()); // before the first paint
printLight();
guardDrafts();
restoreTyped();

const root = document.getElementById('console');
if (root) render(<App />, root);
