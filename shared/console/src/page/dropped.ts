// Files that are dropped anywhere on the page.
import { useEffect, useState } from 'preact/hooks';

/** useDropped calls take with the files that are dropped, and reports whether some are over the page. */
export function useDropped(take: (files: readonly File[]) => void): boolean {
	const [over, setOver] = useState(false);
	useEffect(() => {
		const listen = (name: 'dragover' | 'dragleave' | 'drop', then: (event: DragEvent) => void): (() => void) => {
			const heard = (event: DragEvent): void => {
				if (event.dataTransfer?.types.includes('Files')) then(event); // not a text or a link
			};
			addEventListener(name, heard);
			return () => removeEventListener(name, heard);
		};
		const ends = [
			listen('dragover', (event) => {
				event.preventDefault();
				setOver(true);
			}),
			listen('dragleave', (event) => event.relatedTarget === null && setOver(false)),
			listen('drop', (event) => {
				event.preventDefault();
				setOver(false);
				take([...(event.dataTransfer?.files ?? [])]);
			}),
		];
		return () => ends.forEach((end) => end());
	}, []);
	return over;
}
