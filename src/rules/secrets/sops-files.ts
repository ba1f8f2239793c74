import { asUtf8 } from '../../base/encoding.ts'
import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import { message, part } from '../../base/message.ts'
import { containsPattern } from '../../expr/regexp/pattern.ts'
import { readFlatFile } from '../../flux/sops/encrypted-values.ts'
import { bufferOf, type Tree, type TreeEntry } from '../../git/tree.ts'
import { glance } from '../../kube/glance.ts'
import { at, canonical, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import { parseDocuments, readableDocuments } from '../../kube/yaml/parse-documents.ts'

/** Limit on what is parsed of one repository: files that mention SOPS. */
const MAX_BYTES = 32 * 1024 * 1024
const STRUCTURED = /\.(?:ya?ml|json|dockerconfigjson)$/i
const FLAT = /\.(?:env|ini)$/

/** A document that SOPS encrypted. */
export interface EncryptedDocument {
  readonly file: string
  readonly root: Node
  readonly recipients: Recipients
  /** `<kind>/<namespace>/<name>` of a manifest; '' for another document. */
  readonly id: string
}

/** What SOPS encrypted in a tree, YAML, JSON, dotenv and INI, rendered or not. Throws `render-limits` for too much of it. */
export function* encryptedDocuments(tree: Tree, repository: string): Iterable<EncryptedDocument> {
  const open = ['']
  let left = MAX_BYTES
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const entry of tree.list(directory)) {
      if (entry.type === 'directory') open.push(entry.path)
      if (entry.type !== 'file' || !(STRUCTURED.test(entry.path) || FLAT.test(entry.path))) continue
      const look = glance(tree, entry)
      if (!look?.sops) continue
      left -= look.size
      if (left < 0) throw tooMuch(repository, entry.path)
      if (withoutSops.has(formatOf(entry))) continue
      const documents = documentsOf(tree, repository, entry.path)
      if (documents.length === 0) rememberWithout(entry)
      yield* documents
    }
  }
}

/** The encrypted documents of one file; none if it has none, or cannot be read. */
export function documentsOf(tree: Tree, repository: string, file: string): EncryptedDocument[] {
  return allDocuments(tree, repository, file).flatMap(root => {
    const block = at(root, ['sops'])
    if (block?.type !== 'map') return []
    return [{ file, root, recipients: recipientsOf(block), id: idOf(root) }]
  })
}

/** Files that only mention SOPS, by object id and format: a change looks at the others again. */
const withoutSops = new Set<string>()
const MAX_WITHOUT_SOPS = 100_000
const formatOf = ({ path, id }: TreeEntry) => `${id}${FLAT.exec(path)?.[0] ?? ''}`

function rememberWithout(entry: TreeEntry): void {
  if (entry.id === '') return
  if (withoutSops.size >= MAX_WITHOUT_SOPS) withoutSops.clear()
  withoutSops.add(formatOf(entry))
}

/** Every document of a file that SOPS encrypted: one without a block of SOPS was not there when SOPS wrote the file. */
export function allDocuments(tree: Tree, repository: string, file: string): readonly Node[] {
  if (tree.entry(file)?.type !== 'file') return []
  const bytes = tree.read(file)
  if (!speaksOfSops(bytes)) return []
  if (!FLAT.test(file)) return readableDocuments({ repository, path: file }, bytes) ?? []
  const root = readFlatFile({ repository, file }, Buffer.from(bytes).toString('utf8'))
  return root ? [root] : []
}

const speaksOfSops = (bytes: Uint8Array): boolean => bufferOf(asUtf8(bytes)).includes('sops')

function tooMuch(repository: string, file: string): BailiwickError {
  const problem = message`more than ${MAX_BYTES / 1024 / 1024} MiB of SOPS-encrypted files: ${part('path', file)} and later files are not read`
  const origin = { repository, file, line: 1, column: 1 }
  return new BailiwickError('render-limits', problem, {
    origin,
    fix: message`Move large encrypted files to another repository.`,
  })
}

function idOf(root: Node): string {
  const parts = [['kind'], ['metadata', 'namespace'], ['metadata', 'name']].map(path => stringAt(root, path) ?? '')
  return parts[2] ? parts.join('/') : ''
}

/** Where SOPS reads how to encrypt. */
export const SOPS_CONFIG = '.sops.yaml'

/** One rule of a `.sops.yaml`. */
export interface CreationRule {
  readonly pattern: { readonly text: string; readonly origin: Node['origin'] } | undefined
  readonly recipients: Recipients
  /** Its content, independent of key order, comments and places. */
  readonly text: string
  readonly node: Node
}

/** The rules of a `.sops.yaml`, in their order; undefined where there is none, or it is unreadable. */
export function creationRules(tree: Tree, path: string): readonly CreationRule[] | undefined {
  if (tree.entry(path)?.type !== 'file') return undefined
  return unlessRefused(undefined, () => {
    const [root] = parseDocuments({ repository: '', path }, tree.read(path))
    return itemsOf(at(root, ['creation_rules'])).map(node => {
      const pattern = at(node, ['path_regex'])
      return {
        pattern:
          pattern?.type === 'scalar' && pattern.value
            ? { text: String(pattern.value), origin: pattern.origin }
            : undefined,
        recipients: wantedRecipients(node),
        text: canonical(node),
        node,
      }
    })
  })
}

/** The `.sops.yaml` files of a repository, by path; the nearest one above a file counts for it. */
export class SopsConfigs {
  readonly #tree: Tree
  readonly #rules = new Map<string, readonly CreationRule[] | undefined>()
  readonly #steps = new PatternSteps()

  constructor(tree: Tree) {
    this.#tree = tree
  }

  at(path: string): readonly CreationRule[] | undefined {
    if (!this.#rules.has(path)) this.#rules.set(path, creationRules(this.#tree, path))
    return this.#rules.get(path)
  }

  /**
   * The first rule that matches a file; undefined where no rule states its readers. Throws `render-limits` for patterns
   * that take too long.
   */
  ruleFor(file: string): CreationRule | undefined {
    const parts = file.split('/').slice(0, -1)
    for (let depth = parts.length; depth >= 0; depth--) {
      const directory = parts
        .slice(0, depth)
        .map(part => `${part}/`)
        .join('')
      const rules = this.at(`${directory}${SOPS_CONFIG}`)
      if (rules) return rules.find(rule => fits(rule, file.slice(directory.length), this.#steps))
    }
    return undefined
  }
}

function fits({ pattern }: CreationRule, path: string, steps: PatternSteps): boolean {
  if (!pattern) return true
  try {
    return containsPattern(pattern, path, steps)
  } catch (error) {
    if (error instanceof BailiwickError && error.code !== 'render-limits') return false
    throw error
  }
}

/** What all files of a repository and all patterns together may take. */
class PatternSteps {
  #left = 10_000_000

  spend(_what: 'steps', amount: number): void {
    this.#left -= amount
    if (this.#left < 0) throw new BailiwickError('render-limits', 'a path_regex of .sops.yaml takes too long')
  }
}

/** Who can decrypt what SOPS encrypted, as one text each: `age:age1...`, `pgp:...`, `kms:arn`, `hc_vault:url`. */
export type Recipients = ReadonlyMap<string, Node>

const text = (node: Node | undefined, ...names: string[]): string => {
  for (const name of names) {
    const found = at(node, [name])
    if (found?.type === 'scalar' && found.value !== null) return String(found.value).trim()
  }
  return ''
}
const noSlash = (url: string) => url.replace(/\/{1,8}$/, '')
const wordsOf = (node: Node | undefined): string[] => {
  const items = node?.type === 'list' ? node.items : node ? [node] : []
  return items.flatMap(item => (item.type === 'scalar' && item.value !== null ? String(item.value).split(',') : []))
}

const kms = (arn: string, role: string) => `kms:${arn}${role === '' ? '' : `+${role}`}`
const pgp = (fingerprint: string) => `pgp:${fingerprint.replace(/\s/g, '').toUpperCase()}`
const azure = (vault: string, name: string) => `azure_kv:${noSlash(vault)}/keys/${name}`
/** All versions of an Azure key count as one key. */
const azureUrl = (url: string) => `azure_kv:${noSlash(url).replace(/(\/keys\/[^/]{1,200})\/[^/]{0,200}$/, '$1')}`
const vault = (address: string, engine: string, key: string) => `hc_vault:${noSlash(address)}/v1/${engine}/keys/${key}`

/** The recipients in the `sops` block of an encrypted document. */
export function recipientsOf(block: Node | undefined): Recipients {
  const found = new Map<string, Node>()
  const add = (recipient: string, node: Node) => {
    if (!found.has(recipient)) found.set(recipient, node)
  }
  const groups = [block, ...itemsOf(at(block, ['key_groups']))]
  for (const group of groups) {
    for (const one of itemsOf(at(group, ['age']))) add(`age:${text(one, 'recipient')}`, one)
    for (const one of itemsOf(at(group, ['pgp']))) add(pgp(text(one, 'fp')), one)
    for (const one of itemsOf(at(group, ['kms']))) add(kms(text(one, 'arn'), text(one, 'role')), one)
    for (const one of itemsOf(at(group, ['gcp_kms']))) add(`gcp_kms:${text(one, 'resource_id')}`, one)
    for (const one of itemsOf(at(group, ['hckms']))) add(`hckms:${text(one, 'key_id')}`, one)
    for (const one of itemsOf(at(group, ['azure_kv']))) {
      add(azure(text(one, 'vault_url', 'vaultUrl'), text(one, 'name', 'key')), one)
    }
    for (const one of itemsOf(at(group, ['hc_vault']))) {
      add(vault(text(one, 'vault_address'), text(one, 'engine_path'), text(one, 'key_name')), one)
    }
  }
  return found
}

/** The recipients that a creation rule of `.sops.yaml` asks for, those of its groups too (getsops/sops, config). */
function wantedRecipients(rule: Node | undefined, depth = 0): Recipients {
  const found = new Map<string, Node>()
  const each = (name: string, form: (word: string) => string) => {
    const node = at(rule, [name])
    for (const word of wordsOf(node)) if (word.trim() !== '') found.set(form(word.trim()), node!)
  }
  each('age', word => `age:${word}`)
  each('pgp', pgp)
  each('kms', word => kms(...splitRole(word)))
  each('gcp_kms', word => `gcp_kms:${word}`)
  each('hckms', word => `hckms:${word}`)
  each('azure_keyvault', azureUrl)
  each('hc_vault_transit_uri', word => `hc_vault:${noSlash(word)}`)
  each('hc_vault', word => `hc_vault:${noSlash(word)}`)
  for (const [name, form] of IN_GROUPS) {
    for (const one of itemsOf(at(rule, [name]))) if (one.type === 'map') found.set(form(one), one)
  }
  if (depth < 8) {
    for (const list of ['key_groups', 'merge']) {
      for (const group of itemsOf(at(rule, [list]))) {
        for (const [recipient, node] of wantedRecipients(group, depth + 1)) found.set(recipient, node)
      }
    }
  }
  return found
}

const IN_GROUPS: readonly (readonly [string, (node: Node) => string])[] = [
  ['kms', node => kms(text(node, 'arn'), text(node, 'role'))],
  ['gcp_kms', node => `gcp_kms:${text(node, 'resource_id')}`],
  ['hckms', node => `hckms:${text(node, 'key_id')}`],
  ['azure_keyvault', node => azure(text(node, 'vaultUrl', 'vault_url'), text(node, 'key', 'name'))],
]

function splitRole(word: string): [arn: string, role: string] {
  const plus = word.indexOf('+')
  return plus < 0 ? [word, ''] : [word.slice(0, plus), word.slice(plus + 1)]
}
