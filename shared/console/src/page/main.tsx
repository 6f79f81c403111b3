// The start of the page.
import { render } from 'preact';
import { writeTyped } from '../foundation/addressdraft';
import { guardDrafts } from '../foundation/key';
import { printLight, readTheme, showTheme } from '../foundation/theme';
import { App } from './app';

showTheme(readTheme()); // before the first paint
printLight();
guardDrafts();
writeTyped();

const root = document.getElementById('console');
if (root) render(<App />, root);
