/** What an installation was granted, as GitHub names it; `undefined` entries come from types only. */
export type Granted = Readonly<Record<string, string | undefined>>

/** Of these we ask to read; others that an App may have (`workflows`) cannot be read. */
const READ = [
  'metadata',
  'contents',
  'pull_requests',
  'issues',
  'checks',
  'administration',
  'members',
  'merge_queues',
] as const

/** The same, for reading only; what was not granted cannot be asked for either: GitHub refuses such a token as a whole. */
export function readPermissions(granted: Granted): Record<string, 'read'> {
  return Object.fromEntries(READ.filter(name => granted[name] !== undefined).map(name => [name, 'read']))
}
