import { codeSpan as code } from '../onboard/code-span.ts'
import type { CredentialEntry } from './credential-entries.ts'

/** How each kind of entry is headed, what has to be done first. */
export const ENTRY_TITLES: Readonly<Record<CredentialEntry['kind'], string>> = {
  'in-clear': 'Secrets in clear',
  'key-of-no-tenant': 'Deploy keys of no tenant',
  'writable-key': 'Deploy keys that can write',
  'tenant-without-key': 'Tenants without a deploy key',
  'several-keys': 'Tenants with several deploy keys',
  'other-recipients': 'Sealed for others than .sops.yaml names',
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
    '### Seal them again',
    'Run this in a clone, on a machine with a private key of these files, and open a pull request with the result. Bailiwick has no private key, and cannot do it.',
    '```\nbailiwick sops updatekeys\n```',
    'It updates every YAML file of the clone. The same with SOPS, which also updates JSON:',
    `\`\`\`\n${lines.join('\n')}\n\`\`\``,
    'A recipient that was removed has read the values and the data key. `sops rotate` makes a new data key; git keeps the old files. So replace the values too.',
  ].join('\n\n')
}

const shellWord = (path: string) =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replace(/[\n\r`]/g, '?').replaceAll("'", "'\\''")}'`
