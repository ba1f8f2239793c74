import manifest from '../../package.json' with { type: 'json' }

/** Version of this program, as its package says. */
export const programVersion = (): string => manifest.version
