// The form for the key of the API.
import { useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { words as common } from '../pure/words';
import { words } from './keyform.words';

/** KeyForm asks for the key, once for all parts of the page that need it. Their questions are asked again with it. */
export function KeyForm({ requestID }: { requestID: string }) {
	const { useKey, hasKey } = useConsole();
	const [hadKey] = useState(hasKey); // when the question was refused
	const [key, setKey] = useState('');
	return <form class="trouble key" onSubmit={(event) => {
		event.preventDefault();
		if (key.trim() !== '') useKey(key);
	}}>
		<p><strong>{hadKey ? words.keyRefused : words.keyNeeded}</strong></p>
		<label for="key">{words.key}</label>
		<div class="row">
			<input id="key" type="password" autocomplete="off" spellcheck={false} value={key}
				onInput={(event) => setKey(event.currentTarget.value)} />
			<button type="submit" class="primary">{words.keyUse}</button>
		</div>
		<p class="quiet">{words.keyHint}</p>
		{requestID !== '' && <p class="quiet">{common.requestID} <code>{requestID}</code></p>}
	</form>;
}
