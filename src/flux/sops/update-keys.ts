import { isMap, type ParsedNode, parseAllDocuments, stringify, type YAMLMap } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import type { SealingRule } from './creation-rule.ts'
import { dataKey, type Identities, verifyMac } from './decrypt-object.ts'
import { sealDataKey } from './seal-document.ts'

interface Update {
  readonly path: string
  readonly text: string
  readonly rule: SealingRule
  readonly identities: Identities
  /** Armored public keys of PGP recipients. */
  readonly publicKeys: readonly string[]
  readonly now: Date
}

/** Fields of the SOPS metadata that hold the data key. */
const KEYS = ['age', 'pgp', 'kms', 'gcp_kms', 'hckms', 'azure_kv', 'hc_vault', 'key_groups', 'shamir_threshold']

/**
 * Encrypts the data key of a YAML file for the recipients of a rule, as `sops updatekeys` does (getsops/sops,
 * cmd/sops/subcommand/updatekeys). The data key, all values, the MAC and every character outside of the SOPS metadata stay
 * unchanged. Undefined if the file already has these recipients. Throws `sops-config` if no key opens it, its MAC is wrong, or SOPS
 * would not write its layout.
 */
export async function updateKeys({
  path,
  text,
  rule,
  identities,
  publicKeys,
  now,
}: Update): Promise<string | undefined> {
  const documents = parseDocuments({ repository: '', path }, Buffer.from(text))
  const block = documents.map(root => at(root, ['sops'])).find(node => node?.type === 'map')
  if (!block || hasThose(block, rule)) return undefined
  const key = await dataKey(block, identities)
  if (!key) throw refused(path, 'no given key opens it', 'Name a private key of one of its recipients.')
  try {
    if (!['sound', 'unknown'].includes(await verifyMac(documents, identities))) {
      throw refused(path, 'its MAC does not hold, so a value was changed without a key', 'Restore the file from git.')
    }
    const time = now.toISOString().replace(/\.\d+Z$/, 'Z')
    const sealed = await Promise.all(
      rule.recipients.map(async one => ({ kind: one.kind, key: await sealDataKey(key, one, { publicKeys, time }) })),
    )
    const of = (kind: 'age' | 'pgp') =>
      sealed.flatMap(one => (one.kind === kind ? [JSON.parse(JSON.stringify(one.key)) as unknown] : []))
    return withBlocks(path, text, { age: of('age'), pgp: of('pgp') })
  } finally {
    key.fill(0)
  }
}

function hasThose(block: Node, { recipients }: SealingRule): boolean {
  const items = (kind: string, field: string) => {
    const list = at(block, [kind])
    return list?.type === 'list' ? list.items.map(item => `${kind} ${stringAt(item, [field]) ?? ''}`) : []
  }
  const now = [...items('age', 'recipient'), ...items('pgp', 'fp')].sort()
  const wanted = recipients.map(({ kind, text }) => `${kind} ${text}`).sort()
  const others = KEYS.slice(2).some(kind => {
    const node = at(block, [kind])
    return node?.type === 'list' && node.items.length > 0
  })
  return !others && JSON.stringify(now) === JSON.stringify(wanted)
}

/** All documents of a file share the same metadata. */
function withBlocks(path: string, text: string, keys: Readonly<Record<'age' | 'pgp', readonly unknown[]>>): string {
  let edited = text
  const documents = parseAllDocuments(text)
  for (const { contents } of Array.isArray(documents) ? [...documents].reverse() : []) {
    const found = blockOf(contents)
    if (!found) continue
    const { map, start, end } = found
    const indent = map.items[0]?.key.range?.[0]
    const column = indent === undefined ? 0 : indent - (text.lastIndexOf('\n', indent - 1) + 1)
    if (map.flow || column < 1 || text.slice(0, start).split('\n').at(-1) !== '') {
      throw refused(path, 'its `sops` block is not in YAML block style', `Run \`sops updatekeys ${path}\`.`)
    }
    const rest = Object.entries(map.toJSON() as Record<string, unknown>).filter(([name]) => !KEYS.includes(name))
    const own = Object.entries(keys).filter(([, list]) => list.length > 0)
    const fields = Object.fromEntries([...own, ...rest].sort(([a], [b]) => (a < b ? -1 : 1)))
    const block = stringify({ sops: fields }, { indent: column, lineWidth: 0, version: '1.1' })
    const after = edited.slice(end).replace(/^\n/, '')
    edited = `${edited.slice(0, start)}${block}${after}`
  }
  return edited
}

function blockOf(contents: ParsedNode | null): { map: YAMLMap<ParsedNode>; start: number; end: number } | undefined {
  if (!isMap<ParsedNode>(contents)) return undefined
  const pair = contents.items.find(({ key }) => String(key) === 'sops')
  const [start, map] = [pair?.key.range?.[0], pair?.value]
  if (start === undefined || !isMap<ParsedNode>(map) || !map.range) return undefined
  return { map, start, end: map.range[1] }
}

function refused(path: string, message: string, fix: string): BailiwickError {
  return new BailiwickError('sops-config', `${path}: ${message}`, {
    fix,
    origin: { repository: '', file: path, line: 1, column: 1 },
  })
}
