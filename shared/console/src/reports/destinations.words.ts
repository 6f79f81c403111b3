// The texts about where reports can go, and which settings of the operator add more.

export const words = {
	mailTo: (domains: string) => `Mail may go to ${domains}.`,
	noMail: 'Mail needs the section [mail] in orrery.toml of the data folder; on AWS, the member mail of ORRERY_REPORTS.',
	noDestinations: 'A folder, a chat or a webhook needs a section [destination.NAME] there.',
	kept: 'The last 30 reports are kept and can be read under Reports, also without a destination.',
} as const;
