import type { CredentialReport, SourceSecret } from './credential-report.ts'
import { codeSpan as code } from './onboard/request.ts'

/** A deploy key as GitHub shows it. */
interface DeployKeyFact {
  readonly title: string
  readonly readOnly: boolean
  /** ISO times; `lastUsed` null: never, absent: the server does not say. */
  readonly createdAt: string
  readonly lastUsed?: string | null
}

/** The deploy keys that GitHub shows for a fleet. */
export interface KnownKeys {
  /** `<owner>/<name>` of the fleet. */
  readonly fleet: string
  /** By normalized address; undefined: they are not visible, for the reason in `why`. */
  readonly repositories: ReadonlyMap<string, readonly DeployKeyFact[]>
  /** What else could not be looked at. */
  readonly notVisible: readonly string[]
}

/** One line of the report. Kinds are a contract: add, do not rename. */
export interface CredentialEntry {
  readonly kind:
    | 'key'
    | 'key-of-no-tenant'
    | 'tenant-without-key'
    | 'several-keys'
    | 'writable-key'
    | 'in-clear'
    | 'other-recipients'
    | 'not-visible'
  readonly subject: string
  readonly note: string
  readonly file?: string
  readonly line?: number
}

const DAY_MS = 86_400_000

/** The entries of the report about the credentials of a fleet. `keys`: absent where GitHub is not asked. `today`: `YYYY-MM-DD`. */
export function credentialEntries(
  report: CredentialReport,
  keys: KnownKeys | undefined,
  today: string,
): CredentialEntry[] {
  const read = report.sources.filter(({ secret }) => secret !== undefined)
  return [
    ...(keys ? strayKeys(read, keys, today) : []),
    ...[...Map.groupBy(read.filter(isSsh), ({ tenant, url }) => JSON.stringify([tenant, url])).values()].flatMap(same =>
      keysOf(same[0]!, keys, today),
    ),
    ...report.clear.map(({ object, file, line }): CredentialEntry => {
      const note = 'has plain-text values: encrypt and replace them, because everyone who can read git has them'
      return { kind: 'in-clear', subject: object, note, ...(file === '' ? {} : { file, line }) }
    }),
    ...report.resealed.map(recipientsEntry),
    ...[...report.notVisible, ...(keys?.notVisible ?? [NO_KEYS]), ...read.flatMap(unseen)].map(
      (what): CredentialEntry => ({ kind: 'not-visible', subject: '', note: what }),
    ),
  ]
}

const NO_KEYS = 'deploy keys: only the App can list them (`/bailiwick credentials` on an issue of the fleet)'
const isSsh = ({ address }: SourceSecret) => /^ssh:|^[\w.-]+@/.test(address)

/** Keys whose title names a tenant of this fleet that does not read that repository. */
function strayKeys(
  read: readonly SourceSecret[],
  { fleet, repositories }: KnownKeys,
  today: string,
): CredentialEntry[] {
  return [...repositories].flatMap(([url, keys]) =>
    keys.flatMap((key): CredentialEntry[] => {
      const tenant = tenantInTitle(key.title, fleet)
      if (tenant === undefined || read.some(one => one.tenant === tenant && one.url === url)) return []
      const note = `no source of tenant ${tenant} reads this repository: delete the key. ${ageOf(key, today)}`
      return [{ kind: 'key-of-no-tenant', subject: url, note }]
    }),
  )
}

function keysOf({ tenant, url }: SourceSecret, known: KnownKeys | undefined, today: string): CredentialEntry[] {
  if (!known) return []
  const subject = `${tenant} (${url})`
  const all = known.repositories.get(url)
  if (!all) return [{ kind: 'not-visible', subject, note: 'its deploy keys: the App cannot list them' }]
  const own = all.filter(({ title }) => isTitleOf(title, { tenant, fleet: known.fleet }))
  const entries = own.map((key): CredentialEntry => ({ kind: 'key', subject, note: ageOf(key, today) }))
  const others = all.length - own.length
  if (own.length === 0) {
    const rest =
      others === 0 ? '' : `; ${others} other${others === 1 ? ' key was' : ' keys were'} not made by Bailiwick`
    entries.push({
      kind: 'tenant-without-key',
      subject,
      note: `the repository has no deploy key of this tenant${rest}`,
    })
  }
  if (own.length > 1) {
    entries.push({ kind: 'several-keys', subject, note: `${own.length} keys: a rotation is not complete` })
  }
  const writable = own.filter(({ readOnly }) => !readOnly).length
  if (writable > 0) entries.push({ kind: 'writable-key', subject, note: `${writable} of its keys can write` })
  return entries
}

function ageOf({ createdAt, lastUsed }: DeployKeyFact, today: string): string {
  const days = Math.floor((Date.parse(today) - Date.parse(createdAt.slice(0, 10))) / DAY_MS)
  const age = `made ${createdAt.slice(0, 10)}${Number.isFinite(days) ? `, ${days} ${days === 1 ? 'day' : 'days'} old` : ''}`
  if (lastUsed === undefined) return `${age}; its last use is not visible`
  return lastUsed === null ? `${age}, never used` : `${age}, last used ${lastUsed.slice(0, 10)}`
}

function recipientsEntry({ file, line, left, missing }: CredentialReport['resealed'][number]): CredentialEntry {
  const notes = [
    ...(left.length > 0
      ? [
          `${left.join(', ')} can open it but .sops.yaml does not list them: replace its values too, which they could read`,
        ]
      : []),
    ...(missing.length > 0 ? [`${missing.join(', ')} cannot open it although .sops.yaml lists them`] : []),
  ]
  return { kind: 'other-recipients', subject: file, note: notes.join('; '), file, line }
}

function unseen(source: SourceSecret): string[] {
  const { tenant, cluster, secret, state } = source
  const what = `Secret ${secret} of tenant ${tenant} on ${cluster}`
  return [
    ...(state === 'missing' ? [`${what}: git does not have it`] : []),
    ...(isSsh(source) ? [] : [`${what}: age and rights of its token are not in git`]),
  ]
}

/** The heading of each kind of entry, the most urgent first. */
export const ENTRY_TITLES: Readonly<Record<CredentialEntry['kind'], string>> = {
  'in-clear': 'Plain-text Secrets',
  'key-of-no-tenant': 'Deploy keys of no tenant',
  'writable-key': 'Deploy keys that can write',
  'tenant-without-key': 'Tenants without a deploy key',
  'several-keys': 'Tenants with several deploy keys',
  'other-recipients': 'Encrypted for other recipients than .sops.yaml',
  key: 'Deploy keys',
  'not-visible': 'Not visible',
}

const SHOWN = 50

/** The report as Markdown. */
export function credentialsText(entries: readonly CredentialEntry[]): string {
  const parts = Object.entries(ENTRY_TITLES).flatMap(([kind, title]) => {
    const own = entries.filter(one => one.kind === kind)
    if (own.length === 0) return []
    const more = own.length > SHOWN ? [`- and ${own.length - SHOWN} more: run \`bailiwick credentials\``] : []
    const lines = own.slice(0, SHOWN).map(({ subject, note, file, line }) => {
      const place = file === undefined ? '' : ` at ${code(`${file}:${line}`)}`
      const named = subject === '' || subject === file ? place.replace(' at ', '') : `${code(subject)}${place}`
      return `- ${named === '' ? '' : `${named}: `}${code(note)}`
    })
    return [`### ${title} (${own.length})`, [...lines, ...more].join('\n')]
  })
  const steps = updateKeysText(entries)
  const rest = steps === undefined ? [] : [steps]
  return parts.length === 0 ? 'No tenant of this fleet has credentials in git.' : [...parts, ...rest].join('\n\n')
}

/**
 * How to seal files for those whom `.sops.yaml` names now; undefined where all are. Bailiwick has no private key, so it cannot
 * do it: `sops updatekeys` opens each file first.
 */
export function updateKeysText(entries: readonly CredentialEntry[]): string | undefined {
  const files = [
    ...new Set(entries.filter(({ kind }) => kind === 'other-recipients').map(({ file = '' }) => file)),
  ].sort()
  if (files.length === 0) return undefined
  const lines = files.slice(0, SHOWN).map(file => `sops updatekeys --yes ${shellWord(file)}`)
  if (files.length > SHOWN) lines.push(`# and ${files.length - SHOWN} more`)
  return [
    '### Encrypt them again',
    'Run this in a clone, on a machine with a private key of these files, and open a pull request with the result. Bailiwick has no private key, and cannot do it.',
    '```\nbailiwick sops updatekeys\n```',
    'It updates every YAML file of the clone. The same with SOPS, which also updates JSON:',
    `\`\`\`\n${lines.join('\n')}\n\`\`\``,
    'A recipient that was removed has read the values and the data key. `sops rotate` makes a new data key; git keeps the old files. So replace the values too.',
  ].join('\n\n')
}

const shellWord = (path: string) =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replace(/[\n\r`]/g, '?').replaceAll("'", "'\\''")}'`

/** A tenant of a fleet, as the title of its deploy key names both. */
interface KeyOwner {
  readonly tenant: string
  /** `<owner>/<name>`. */
  readonly fleet: string
}

/** What GitHub shows beside a deploy key of a tenant. `how`: who asked for it, in a few words. */
export function deployKeyTitle(owner: KeyOwner, how: string): string {
  return `${prefixOf(owner)}${how}`
}

/** Whether a deploy key is one of this tenant. Only admins of its repository can give it a title, and our App. */
export const isTitleOf = (title: string, owner: KeyOwner): boolean => title.startsWith(prefixOf(owner))

/** The tenant of a fleet that a title names; undefined for a key of something else. */
function tenantInTitle(title: string, fleet: string): string | undefined {
  const tenant = /^Flux: tenant ([a-z0-9-]{1,253}) of /.exec(title)?.[1]
  return tenant !== undefined && isTitleOf(title, { tenant, fleet }) ? tenant : undefined
}

const prefixOf = ({ tenant, fleet }: KeyOwner) => `Flux: tenant ${tenant} of ${fleet}, `
