// Where reports can go, and which settings of the operator add more.
import { words } from './destinations.words';

/** ReceiverHint says where the reports of a configuration can go. */
export function ReceiverHint({ list: { destinations, domains } }: {
	list: { destinations: readonly string[]; domains: readonly string[] };
}) {
	return <>{[
		words.kept, domains.length === 0 ? words.noMail : words.mailTo(domains.join(', ')),
		destinations.length === 0 && words.noDestinations,
	].filter(Boolean).join(' ')}</>;
}
