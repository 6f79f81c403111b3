// Parts that the reports of the dashboard and of the settings have, and load when they draw them.
import { lazy } from '../foundation/lazy';
import style from './reportpage.css';

export const ReportPage = lazy(() => import('./reportpage').then((m) => m.ReportPage), style);
export const ReceiverHint = lazy(() => import('./receiverhint').then((m) => m.ReceiverHint));
