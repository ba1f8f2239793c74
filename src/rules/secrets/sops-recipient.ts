import { type Message, message, untyped } from '../../base/message.ts'
import { comparePatterns } from '../../expr/regexp/pattern.ts'
import { hashOf } from '../../fleet/facts/fingerprint.ts'
import type { EvaluatedRepository } from '../../fleet/facts/repositories.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { Tree } from '../../git/tree.ts'
import { canonical, type Node, withoutField } from '../../kube/node.ts'
import { atReaders, isBelow } from '../git/rendered-tree.ts'
import type { Rule, Violation, Wording } from '../model/rule.ts'
import {
  type CreationRule,
  creationRules,
  documentsOf,
  type EncryptedDocument,
  encryptedDocuments,
  type Recipients,
  SOPS_CONFIG,
  SopsConfigs,
} from './sops-files.ts'

/** The readers of a secret do not change unnoticed. */
export const sopsRecipient: Rule = {
  id: 'sops-recipient',
  severity: 'high',
  title: 'Recipients differ from .sops.yaml',
  why: "The owner of an additional key can decrypt the file. Without the cluster's key, Flux cannot deploy it. A recipient that is added to `.sops.yaml` can decrypt everything that is encrypted afterwards.",
  source: 'getsops/sops, creation_rules; Flux does not check the MAC of what it decrypts',
  docs: 'Run `sops updatekeys`. The recipients (age, PGP, KMS, Key Vault, Vault) must equal those of the first creation rule that matches the path on the base branch. Ask a fleet admin to accept a change of recipients or of the rule order in `.sops.yaml`. A new rule with a pattern such as `^FOLDER/.*\\.yaml$` is accepted if its files are encrypted as before: for the same recipients, in the same way.',
  *checkRepository(repository) {
    yield* changedConfigs(repository)
    yield* otherRecipients(repository)
  },
}

/** Files encrypted to other recipients than the base's rule lists, or than before where no rule applies. */
function* otherRecipients({ url, tree, before, nodes }: EvaluatedRepository): Iterable<Violation> {
  const configs = new SopsConfigs(before ?? tree)
  const earlier = before && new Earlier(before, { url, tree, nodes })
  for (const document of encryptedDocuments(tree, url)) {
    const rule = configs.ruleFor(document.file)
    const asked = rule?.recipients ?? earlier?.recipientsOf(document)
    if (!asked || asked.size === 0) continue
    const whose = rule ? `the first matching rule of ${SOPS_CONFIG}` : 'the previous file'
    for (const { value, ...wording } of differences(document, asked, whose))
      yield* atReaders(nodes, document.file, value, wording)
  }
}

function* differences(document: EncryptedDocument, asked: Recipients, whose: string): Iterable<Found> {
  const { file, recipients } = document
  const change = recipientChange(asked, recipients)
  for (const [recipient, at] of recipients) {
    if (asked.has(recipient)) continue
    const problem = message`The file ${quoted('path', file)} can be decrypted with ${quoted('value', recipient)}, which ${untyped(whose)} does not name`
    yield found(
      at,
      `${file} + ${recipient}`,
      problem,
      message`Run \`sops updatekeys\` on the file, and rotate the secret.`,
      change,
    )
  }
  for (const recipient of asked.keys()) {
    if (recipients.has(recipient)) continue
    const problem = message`The file ${quoted('path', file)} cannot be decrypted with ${quoted('value', recipient)}, which ${untyped(whose)} names`
    yield found(document.root, `${file} - ${recipient}`, problem, message`Run \`sops updatekeys\` on the file.`, change)
  }
}

/**
 * What was encrypted before a change, found by its path, and by what it is where it was moved. What stays as it was for
 * another cluster was not: a cluster has keys of its own.
 */
class Earlier {
  readonly #before: Tree
  readonly #repository: Pick<EvaluatedRepository, 'url' | 'tree' | 'nodes'>
  #last: { readonly file: string; readonly documents: readonly EncryptedDocument[] } | undefined
  #byId: ReadonlyMap<string, readonly EncryptedDocument[]> | undefined

  constructor(before: Tree, repository: Pick<EvaluatedRepository, 'url' | 'tree' | 'nodes'>) {
    this.#before = before
    this.#repository = repository
  }

  recipientsOf({ file, id }: EncryptedDocument): Recipients | undefined {
    const { url } = this.#repository
    if (this.#last?.file !== file) this.#last = { file, documents: documentsOf(this.#before, url, file) }
    const same = this.#last.documents
    const found = same.find(one => one.id === id) ?? same[0]
    if (found || id === '') return found?.recipients
    this.#byId ??= Map.groupBy(encryptedDocuments(this.#before, url), one => one.id)
    return this.#byId.get(id)?.find(one => !this.#staysElsewhere(one.file, file))?.recipients
  }

  /** Whether a file is unchanged, and no cluster that reads it reads the other one. */
  #staysElsewhere(file: string, other: string): boolean {
    const { tree, nodes } = this.#repository
    if (tree.entry(file)?.id !== this.#before.entry(file)?.id) return false
    const [readers, others] = [clustersReading(nodes, file), clustersReading(nodes, other)]
    return readers.size > 0 && others.size > 0 && ![...readers].some(cluster => others.has(cluster))
  }
}

const clustersReading = (nodes: readonly FleetNode[], file: string) =>
  new Set(nodes.filter(node => isBelow(node, file)).map(({ cluster }) => cluster))

/** A `.sops.yaml` that names others than before, in another order, for other files, or that comes in front of one. */
function* changedConfigs({ url, tree, before, nodes }: EvaluatedRepository): Iterable<Violation> {
  if (!before || before.id === tree.id) return
  const [was, is] = [configsIn(before), configsIn(tree)]
  for (const path of new Set([...was, ...is])) {
    if (before.entry(path)?.id === tree.entry(path)?.id) continue
    const place: Node = { type: 'scalar', value: null, origin: { repository: url, file: path, line: 0, column: 0 } }
    const [old, now] = [creationRules(before, path) ?? [], creationRules(tree, path)]
    const change = recipientChange(recipientsOf(old), recipientsOf(now ?? []))
    const say = (value: string, what: Message, at: Node = place) =>
      found(
        { ...at, origin: { ...at.origin, repository: url } },
        `${path} ${value}`,
        message`${quoted('path', path)} ${what}`,
        FIX,
        change,
      )
    const changes = () => {
      if (was.length === 0) return strangers(now ?? [], before, url, say)
      if (!was.includes(path))
        return [say('new', message`is new, and replaces the rules of another file for its directory`)]
      if (!is.includes(path)) return [say('gone', message`is removed, so no rule defines the recipients of secrets`)]
      return now ? changedRules(old, now, say) : [say('unreadable', message`can no longer be read`)]
    }
    for (const { value, ...wording } of changes()) yield* atReaders(nodes, path, value, wording)
  }
}

/** For a repository's first `.sops.yaml`: recipients that can read nothing that exists already. */
function* strangers(rules: readonly CreationRule[], before: Tree, url: string, say: Say): Iterable<Found> {
  const known = new Set([...encryptedDocuments(before, url)].flatMap(({ recipients }) => [...recipients.keys()]))
  if (known.size === 0) return
  for (const [recipient, at] of recipientsOf(rules)) {
    if (!known.has(recipient))
      yield say(
        `+ ${recipient}`,
        message`adds the recipient ${quoted('value', recipient)}, which could decrypt nothing here before`,
        at,
      )
  }
}

type Say = (value: string, what: Message, at?: Node) => Found

const FIX = message`Ask a fleet admin to accept the change of recipients.`

function* changedRules(old: readonly CreationRule[], now: readonly CreationRule[], say: Say): Iterable<Found> {
  const [before, after] = [recipientsOf(old), recipientsOf(now)]
  let found = false
  for (const [recipient, at] of after) {
    if (before.has(recipient)) continue
    found = true
    yield say(`+ ${recipient}`, message`adds the recipient ${quoted('value', recipient)}`, at)
  }
  for (const recipient of before.keys()) {
    if (after.has(recipient)) continue
    found = true
    yield say(`- ${recipient}`, message`no longer encrypts to ${quoted('value', recipient)}`)
  }
  const [was, is] = [old.map(rule => rule.text), now.map(rule => rule.text)]
  if (found || JSON.stringify(was) === JSON.stringify(is)) return
  if (areNeutral(old, now) || areNeutral(now, old)) return
  const moved = now.find((rule, index) => rule.text !== was[index])?.node ?? now[0]?.node
  yield say(
    hashOf(is),
    message`has other rules, or another rule order: the first rule that matches a path applies`,
    moved,
  )
}

function configsIn(tree: Tree): string[] {
  const found: string[] = []
  const open = ['']
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const { type, name, path } of tree.list(directory)) {
      if (type === 'directory') open.push(path)
      else if (name === SOPS_CONFIG) found.push(path)
    }
  }
  return found
}

type Found = Wording & { readonly value: string }

const recipientsOf = (rules: readonly CreationRule[]): Recipients =>
  new Map(rules.flatMap(rule => [...rule.recipients]))

/** The same keys in place of the same others are one change, in however many files and rules. */
function recipientChange(was: Recipients, is: Recipients): string {
  const only = (one: Recipients, other: Recipients) => [...one.keys()].filter(key => !other.has(key)).sort()
  return hashOf(['recipients', ...only(is, was), '', ...only(was, is)])
}

function found(at: Node, value: string, what: Message, fix: Message, change: string): Found {
  return {
    origin: at.origin,
    value,
    leads: [change],
    follows: [change],
    message: message`${what}. Allowed: the recipients that the base branch requires. Flux decrypts what it can, and does not check the other recipients.`,
    fix,
  }
}

/** Fields in which two rules with the same recipients may differ. */
const FIELDS = ['age', 'pgp', 'path_regex']

/**
 * Whether `more` equals `less` plus rules that change nothing: each additional rule encrypts every path that it can match exactly as
 * the rules after it do, for the same recipients. Then it does not matter which of the two lists applies.
 */
function areNeutral(less: readonly CreationRule[], more: readonly CreationRule[]): boolean {
  let at = 0
  for (const [index, rule] of more.entries()) {
    if (rule.text === less[at]?.text) at += 1
    else if (!isNeutral(rule, more.slice(index + 1))) return false
  }
  return at === less.length
}

function isNeutral(rule: CreationRule, behind: readonly CreationRule[]): boolean {
  const { pattern, node } = rule
  if (!pattern || node.type !== 'map') return false
  for (const other of behind) {
    const relation = other.pattern ? comparePatterns(pattern.text, other.pattern.text) : 'within'
    if (relation === 'apart') continue
    if (relation === 'unknown' || !isAlike(rule, other)) return false
    if (relation === 'within') return true
  }
  return false
}

function isAlike(one: CreationRule, other: CreationRule): boolean {
  const names = (rule: CreationRule) => [...rule.recipients.keys()].sort().join(' ')
  return names(one) !== '' && names(one) === names(other) && wayOf(one.node) === wayOf(other.node)
}

/** The settings of a rule besides its path and recipients. Recipients of other kinds count as settings. */
function wayOf(node: Node): string {
  if (node.type !== 'map') return ''
  return canonical(FIELDS.reduce((map, field) => withoutField(map, field), node))
}
