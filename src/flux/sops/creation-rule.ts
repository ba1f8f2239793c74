import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { containsPattern } from '../../expr/regexp/pattern.ts'
import type { Tree } from '../../git/tree.ts'
import { at, isNull, type Node } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import type { Entry } from '../../kustomize/entry.ts'

/** The file with the creation rules. */
export const SOPS_CONFIG = '.sops.yaml'
const MAX_RULES = 1_000
const MAX_RECIPIENTS = 32
const MAX_NESTING = 8
const MAX_STEPS = 1_000_000

/**
 * The first creation rule that fits `path`, of the nearest `.sops.yaml` above it, as SOPS 3.13 reads it (getsops/sops,
 * config.go). Throws `sops-config` where there is none, and for a rule by which only SOPS itself can encrypt: it says what
 * to run.
 */
export async function creationRuleFor(tree: Tree, path: string): Promise<SealingRule> {
  const { root, directory, start } = configAbove(tree, path)
  const { rules, rule } = firstFitting(root, path.slice(directory.length), start)
  if (rule) return sealingRule(rule, path)
  throw refused(
    `creation_rules: no rule matches ${path}`,
    `Add a rule whose path_regex matches ${path.slice(directory.length)}.`,
    rules.origin,
  )
}

/** The same, but a missing rule or `.sops.yaml` is not an error. `config`: the one that counts for `path`. */
export async function findCreationRule(
  tree: Tree,
  path: string,
): Promise<{ readonly config: string | undefined; readonly rule: SealingRule | undefined }> {
  const folders = path.split('/').slice(0, -1)
  const above = folders.map((_, index) => folders.slice(0, folders.length - index).join('/'))
  const isThere = [...above, ''].some(folder => tree.entry(folder === '' ? SOPS_CONFIG : `${folder}/${SOPS_CONFIG}`))
  if (!isThere) return { config: undefined, rule: undefined }
  const { root, directory, start } = configAbove(tree, path)
  const { rule } = firstFitting(root, path.slice(directory.length), start)
  return { config: start.file, rule: rule && (await sealingRule(rule, path)) }
}

function firstFitting(root: Node | undefined, path: string, start: Origin) {
  const rules = at(root, ['creation_rules'])
  if (rules?.type !== 'list') throw refused('creation_rules: is not a list', 'Add a rule with age recipients.', start)
  if (rules.items.length > MAX_RULES) throw refused(`creation_rules: more than ${MAX_RULES} rules`, FEWER, rules.origin)
  return { rules, rule: rules.items.find(one => fits(one, path)) }
}

const sealingRule = async (rule: Node, path: string): Promise<SealingRule> => ({
  recipients: await recipientsOf(rule, path),
  selection: selectionOf(rule),
  macOnlyEncrypted: flag(rule, 'mac_only_encrypted'),
  origin: rule.origin,
})

const FEWER = 'Remove rules that match nothing.'

function configAbove(tree: Tree, path: string) {
  const parts = path.split('/').slice(0, -1)
  let misnamed: string | undefined
  for (let depth = parts.length; depth >= 0; depth--) {
    const directory = parts
      .slice(0, depth)
      .map(part => `${part}/`)
      .join('')
    const file = `${directory}${SOPS_CONFIG}`
    if (tree.entry(`${directory}.sops.yml`)) misnamed ??= `${directory}.sops.yml`
    if (!tree.entry(file)) continue
    const start: Origin = { repository: '', file, line: 1, column: 1 }
    if (tree.entry(file)?.type !== 'file') throw refused(`${file}: is not a file`, 'Commit it as a file.', start)
    return { root: parsed(file, tree.read(file), start), directory, start }
  }
  const fix =
    misnamed === undefined
      ? 'Add a .sops.yaml with a creation rule for this path to the root of the repository.'
      : `Rename it to .sops.yaml: SOPS ignores ${misnamed}.`
  throw refused(`${path}: no .sops.yaml says to whom it is encrypted`, fix)
}

function parsed(path: string, bytes: Uint8Array, start: Origin): Node | undefined {
  try {
    return parseDocuments({ repository: '', path }, bytes)[0]
  } catch (cause) {
    if (!(cause instanceof BailiwickError)) throw cause
    throw new BailiwickError('sops-config', `${path}: ${cause.message}`, {
      fix: cause.fix ?? 'Make it a YAML file that SOPS reads.',
      origin: cause.origin ?? start,
      cause,
    })
  }
}

function fits(rule: Node, path: string): boolean {
  const pattern = textOf(at(rule, ['path_regex']), 'path_regex')
  return pattern === undefined || matches(pattern, path)
}

/** Whether a regular expression of Go matches a part of `text`. Throws `sops-config` for one that it refuses. */
export function matches(pattern: Entry, text: string): boolean {
  let left = MAX_STEPS
  const spend = (_what: 'steps', amount: number) => {
    left -= amount
    if (left < 0) throw new BailiwickError('render-limits', 'takes too long')
  }
  try {
    return containsPattern(pattern, text, { spend })
  } catch (cause) {
    if (!(cause instanceof BailiwickError)) throw cause
    throw new BailiwickError('sops-config', `regular expression ${JSON.stringify(pattern.text)}: ${cause.message}`, {
      fix: 'Write a regular expression of Go (RE2), such as ^tenants/.*\\.yaml$.',
      origin: pattern.origin,
      cause,
    })
  }
}

async function recipientsOf(rule: Node, path: string): Promise<Recipient[]> {
  const groups = at(rule, ['key_groups'])
  const hasGroups = groups?.type === 'list' && groups.items.length > 0
  if (groups && groups.type !== 'list' && !isNull(groups)) {
    throw refused('key_groups: is not a list', 'Write a list with one group.', groups.origin)
  }
  if (hasGroups && groups.items.length > 1) {
    const what = `key_groups: the key is split among ${groups.items.length} groups, which Bailiwick cannot encrypt to`
    throw refused(what, sealByHand(path), groups.origin)
  }
  const found: Recipient[] = []
  for (const part of hasGroups ? merged(groups.items[0]!, 0) : [rule]) {
    for (const [field, cloud] of REMOTE_KEYS) {
      const node = at(part, [field])
      if (!node || isEmpty(node)) continue
      throw refused(
        `${field}: ${cloud} is needed to encrypt, and Bailiwick has no access to it`,
        sealByHand(path),
        node.origin,
      )
    }
    for (const entry of words(at(part, ['age']), 'age')) found.push(await ageRecipient(entry, path))
    for (const entry of words(at(part, ['pgp']), 'pgp')) found.push(pgpRecipient(entry))
  }
  if (found.length === 0)
    throw refused('the creation rule names no recipient', 'Add `age: age1...` to it.', rule.origin)
  if (found.length > MAX_RECIPIENTS) {
    throw refused(
      `the creation rule names more than ${MAX_RECIPIENTS} recipients`,
      'Name fewer recipients.',
      rule.origin,
    )
  }
  return [...new Map(found.map(one => [`${one.kind} ${one.text}`, one])).values()]
}

/** A key group and those that it merges. */
function merged(group: Node, depth: number): Node[] {
  const merge = at(group, ['merge'])
  if (merge?.type !== 'list') return [group]
  if (depth >= MAX_NESTING)
    throw refused('merge: nested too deeply', 'Name the keys in the group itself.', merge.origin)
  return [...merge.items.flatMap(inner => merged(inner, depth + 1)), group]
}

/** Keys in one text, separated by commas, or in a list of such texts. */
function words(node: Node | undefined, field: string): Entry[] {
  if (!node || isNull(node)) return []
  const items = node.type === 'list' ? node.items : [node]
  return items.flatMap(item => {
    if (item.type !== 'scalar' || typeof item.value !== 'string') {
      throw refused(`${field}: is neither text nor a list of texts`, `Write \`${field}: KEY\` or a list.`, item.origin)
    }
    const { value, origin } = item
    return value.split(',').flatMap(word => (word.trim() === '' ? [] : [{ text: word.trim(), origin }]))
  })
}

function selectionOf(rule: Node): Selection | undefined {
  const found = SELECTIONS.flatMap(field => {
    const value = textOf(at(rule, [field]), field)
    return value === undefined ? [] : [{ field, value }]
  })
  const [first, second] = found
  if (!second) return first
  throw refused(
    `${first!.field} and ${second.field}: SOPS allows one of them in a rule`,
    'Keep `encrypted_regex: ^(data|stringData)$`.',
    second.value.origin,
  )
}

function textOf(node: Node | undefined, field: string): Entry | undefined {
  if (!node || isNull(node)) return undefined
  if (node.type !== 'scalar') throw refused(`${field}: is not text`, 'Write one text.', node.origin)
  const text = typeof node.value === 'string' ? node.value : (node.text ?? String(node.value))
  return text === '' ? undefined : { text, origin: node.origin }
}

function flag(rule: Node, field: string): boolean {
  const node = at(rule, [field])
  if (!node || isNull(node)) return false
  if (node.type === 'scalar' && typeof node.value === 'boolean') return node.value
  throw refused(`${field}: is neither true nor false`, 'Write true or false.', node.origin)
}

const isEmpty = (node: Node) =>
  isNull(node) || (node.type === 'scalar' ? node.value === '' : node.type === 'list' && node.items.length === 0)

function refused(message: string, fix: string, origin?: Origin): BailiwickError {
  return new BailiwickError('sops-config', message, { fix, origin })
}

/** Who can open a file, and which of its values are encrypted, as a creation rule of `.sops.yaml` says. */
export interface SealingRule {
  /** At least one. */
  readonly recipients: readonly Recipient[]
  /** Undefined: as SOPS does without one, every value but those below a key that ends with `_unencrypted`. */
  readonly selection: Selection | undefined
  readonly macOnlyEncrypted: boolean
  /** Where the rule begins. */
  readonly origin: Origin
}

/** A public key: `age1...`, or the fingerprint of a PGP key as 40 or 64 upper-case hex digits. */
export interface Recipient {
  readonly kind: 'age' | 'pgp'
  readonly text: string
  readonly origin: Origin
}

/** Fields of a rule of which SOPS takes one at most. */
export const SELECTIONS = [
  'encrypted_regex',
  'encrypted_suffix',
  'unencrypted_regex',
  'unencrypted_suffix',
  'encrypted_comment_regex',
  'unencrypted_comment_regex',
] as const

export interface Selection {
  readonly field: (typeof SELECTIONS)[number]
  readonly value: Entry
}

/** The keys that need a cloud, or a server of the operator: what a rule or a key group calls them. */
const REMOTE_KEYS: ReadonlyMap<string, string> = new Map([
  ['kms', 'AWS KMS'],
  ['gcp_kms', 'GCP KMS'],
  ['hckms', 'Huawei Cloud KMS'],
  ['azure_keyvault', 'Azure Key Vault'],
  ['hc_vault_transit_uri', 'HashiCorp Vault'],
  ['hc_vault', 'HashiCorp Vault'],
])

/** An age recipient as SOPS accepts it, if it can be used without a program or a cloud. Throws `sops-config`. */
async function ageRecipient({ text, origin }: Entry, path: string): Promise<Recipient> {
  if (/^AGE-SECRET-KEY-/i.test(text)) {
    throw new BailiwickError('sops-config', 'age: a private key is not a recipient', {
      fix: 'Replace it with its public key (`age-keygen -y`), and make a new key: this one is already in git.',
      origin,
    })
  }
  const shown = JSON.stringify(text.slice(0, 80))
  const other = text.startsWith('ssh-') ? 'an SSH key' : isPlugin(text) ? 'a recipient of an age plugin' : undefined
  if (other !== undefined) {
    throw new BailiwickError('sops-config', `age: ${shown} is ${other}, which Bailiwick cannot encrypt to`, {
      fix: sealByHand(path),
      origin,
    })
  }
  const { Encrypter } = await import('age-encryption')
  try {
    new Encrypter().addRecipient(text)
  } catch {
    // the library says in plain errors that a checksum or a length is wrong
    throw new BailiwickError('sops-config', `age: ${shown} is not a valid recipient`, {
      fix: 'Write the public key as `age-keygen -y` prints it: age1...',
      origin,
    })
  }
  return { kind: 'age', text, origin }
}

const isPlugin = (text: string) => text.startsWith('age1') && !text.startsWith('age1pq1') && text.lastIndexOf('1') > 3

/** The fingerprint of a PGP key. A key id is refused: keys with the same id can be made. Throws `sops-config`. */
function pgpRecipient({ text, origin }: Entry): Recipient {
  const fingerprint = text.replaceAll(' ', '').toUpperCase()
  if (/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/.test(fingerprint)) return { kind: 'pgp', text: fingerprint, origin }
  const shown = JSON.stringify(text.slice(0, 80))
  throw new BailiwickError('sops-config', `pgp: ${shown} is not a fingerprint`, {
    fix: 'Write all 40 hex digits, as `gpg --list-keys --with-colons` prints them in a line that begins with fpr.',
    origin,
  })
}

/** What to do where SOPS itself must encrypt a file. */
const sealByHand = (path: string): string =>
  `Write the plain text outside of git, run \`sops encrypt --in-place ${path}\` where that key can be used, and commit the result.`

/** Where people commit public PGP keys beside `.sops.yaml`, by the guide of Flux. */
const PUBLIC_KEY_FILE = '.sops.pub.asc'
const MAX_KEY_FILES = 50

/** Armored PGP keys that the fleet contains. Throws `sops-config` for too many. */
export function publicKeysIn(tree: Tree): string[] {
  const found: string[] = []
  const open = ['']
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const { type, name, path } of tree.list(directory)) {
      if (type === 'directory') open.push(path)
      else if (type === 'file' && name === PUBLIC_KEY_FILE) found.push(Buffer.from(tree.read(path)).toString('latin1'))
    }
    if (found.length > MAX_KEY_FILES) {
      throw new BailiwickError('sops-config', `more than ${MAX_KEY_FILES} files are named ${PUBLIC_KEY_FILE}`, {
        fix: `Put the keys into fewer files: \`gpg --export --armor\` writes several into one.`,
      })
    }
  }
  return found
}
