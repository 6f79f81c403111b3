// Parts that several screens have, and load when they draw them.
import type { Asker } from '../foundation/ask';
import { lazy } from '../foundation/lazy';
import blameStyle from './blame.css';
import changesStyle from './changes.css';
import type { Names } from './configurations';
import documentsStyle from './documents.css';
import facetsStyle from './facets.css';
import linesStyle from './lines.css';

export const Changes = lazy(() => import('./changes').then((m) => m.Changes), changesStyle);
export const Configurations = lazy(() => import('./configurations').then((m) => m.Configurations), documentsStyle);
export const Facets = lazy(() => import('./facets').then((m) => m.Facets), facetsStyle);
export const Nothing = lazy(() => import('./blame').then((m) => m.Nothing), blameStyle);
export const Lines = lazy(() => import('./lines').then((m) => m.Lines), linesStyle);
export const LinesChart = lazy(() => import('./lines').then((m) => m.LinesChart), linesStyle);
export const Numbers = lazy(() => import('./lines').then((m) => m.Numbers));
export const Overlay = lazy(() => import('./lines').then((m) => m.Overlay), linesStyle);

/** askConfigurations returns the names of the configurations, which only few parts need. */
export async function askConfigurations(asker: Pick<Asker, 'get' | 'ask'>): Promise<Names> {
	return (await import('./configurations')).askConfigurations(asker);
}
