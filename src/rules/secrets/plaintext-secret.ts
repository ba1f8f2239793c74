import { asUtf8 } from '../../base/encoding.ts'
import { asMessage, listed, type Message, message, untyped } from '../../base/message.ts'
import { andMore } from '../../base/name-list.ts'
import { oncePer } from '../../base/once-per.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { EvaluatedRepository } from '../../fleet/facts/repositories.ts'
import { quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { BrokenSeal, FleetNode } from '../../fleet/model/fleet.ts'
import { artifactPath } from '../../flux/artifact.ts'
import { bufferOf, readUnlessLarge, type Tree } from '../../git/tree.ts'
import { valuesOf } from '../../kube/flux-kinds.ts'
import { at, canonical, type Node, originAt, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { atReaders, isBelow, readersOf } from '../git/rendered-tree.ts'
import { everyMap, scalarsOf } from '../model/object-values.ts'
import { overLimit, type Rule, Subject, type Violation } from '../model/rule.ts'
import { assignedCredential, credentialIn, isCredentialName, isLiteral, mayHoldCredential } from './credential-text.ts'
import { type OpenValue, openValues } from './open-values.ts'
import { isRefused, refusal } from './sops-not-decrypted.ts'
import { isSealed } from './sops-values.ts'

/** Every value of a Secret in git is SOPS ciphertext, and no credentials are elsewhere, for any owner. */
export const plaintextSecret: Rule = {
  id: 'plaintext-secret',
  severity: 'high',
  title: 'Plain-text secret in git',
  why: 'Everyone with past or present read access to the repository, its forks or its history can read a plain-text value. Base64 is not encryption, and a `sops` block does not encrypt the values beside it.',
  source: 'Flux security best practices: secret decryption',
  docs: "Encrypt `data` and `stringData` with `sops --encrypt --encrypted-regex '^(data|stringData)$'`, keep the `sops` block, and rotate the value: it is already in git. `unencrypted-setting` lists values that are not secrets: variables, placeholders such as `<token>` or `REPLACE_ME`, and public keys. It also lists a setting by its key (`host`, `port`, `database`, `username`) that does not look random. Every other value, including `changeme`, counts as a secret. A credential in a file that is not rendered is a warning. `bailiwick check --sops-age-key-file` checks the MAC of files that its key can decrypt. Move keys and tokens in other kinds and in comments to an encrypted Secret. A value with only a credential-like name is a warning where a tenant applies it.",
  kinds: 'every',
  *checkObject(subject, { before }) {
    if (subject.kind === '/Secret') yield* secret(subject, before)
    else if (!isDocumentation(subject.object)) yield* elsewhere(subject)
  },
  *checkRepository(repository) {
    yield* secretsInFiles(repository)
    yield* changedFiles(repository)
  },
}

function* secret(subject: Subject, before: FleetIndex | undefined): Iterable<Violation> {
  const { object, kind, id, node } = subject
  for (const { path, harmless } of openValues(object.root, isSealed(object))) {
    if (harmless) continue
    const then = isRefused(subject, path) ? refusal(id) : ACCEPTED
    const found = violation(node, object, path, message`has a plain-text value`, sopsFix(object, path), then)
    const versions = before?.versionsOf(node.cluster, kind, id.namespace, id.name) ?? []
    yield isAnother(object, path, versions) ? { ...found, value: 'another plain' } : found
  }
}

/** Whether no earlier version has this value there, and one has another: values are only compared here, never shown. */
function isAnother(object: KubeObject, path: Path, versions: readonly { readonly object: KubeObject }[]): boolean {
  const values = versions.flatMap(({ object: { root } }) => at(root, path) ?? []).map(canonical)
  const value = at(object.root, path)
  return value !== undefined && values.length > 0 && !values.includes(canonical(value))
}

/** The command if the value has its own file; a generator's file may hold anything. Markdown shows no bar in code. */
function sopsFix(object: KubeObject, path: Path): string {
  const { file, via = [] } = originAt(object.root, path)
  const isGenerated = [...via, ...object.trail].some(({ step }) => step === 'generator')
  const rotate = 'Rotate the value: it is already in git'
  if (file === '' || isGenerated || !/^[\w./-]+$/.test(file)) return `Encrypt the Secret with SOPS. ${rotate}.`
  if (isSealed(object))
    return `Restore ${file} from git, and set the value with \`sops edit ${file}\`: \`sops encrypt\` refuses a file that has a \`sops\` block. ${rotate}.`
  return `Run \`sops --encrypt --encrypted-regex '^(string)?[dD]ata$' --in-place ${file}\`. ${rotate}.`
}

/** What was changed in an encrypted file, and what Flux makes of it: it does not check the MAC. */
const CHANGED: Readonly<Record<BrokenSeal['why'], Message>> = {
  changed: message`its MAC does not match its values. Allowed: files that SOPS wrote. Flux does not check the MAC and would apply the file`,
  corrupt: message`an encrypted value does not open with its data key. Allowed: files that SOPS wrote. Flux cannot decrypt the file, and applies nothing of the Kustomization`,
  locked: message`its data key does not open with the key of a recipient. Allowed: files that SOPS wrote. Flux cannot decrypt the file with that key`,
}

function* changedFiles({ url, nodes, brokenSeals = [] }: EvaluatedRepository): Iterable<Violation> {
  for (const { file, why } of brokenSeals) {
    yield* atReaders(nodes, file, `${file} seal`, {
      origin: { repository: url, file, line: 0, column: 0 },
      message: message`The encrypted file ${quoted('path', file)} was changed without its key: ${CHANGED[why]}.`,
      fix: message`Restore the file, or change it with \`sops edit\`.`,
    })
  }
}

function* elsewhere({ object, kind, node }: Subject): Iterable<Violation> {
  const seen = glanceAt(object.root)
  const isNamed = node.tenant !== undefined && (seen.environment || hasNames(kind))
  if (!seen.secret && !isNamed && !mayHold(object, seen)) return
  const found = new Set<string>()
  for (const { path, what, byName } of credentialsIn(object, kind, seen, isNamed)) {
    const key = JSON.stringify(path)
    if (found.has(key)) continue
    found.add(key)
    const fix = message`Move the value to a Secret that SOPS encrypts, and refer to the Secret. Rotate the value: it is already in git.`
    yield {
      ...violation(node, object, path, message`contains ${untyped(what)} in plain text`, fix),
      ...(byName ? { level: 'warning' } : {}),
    }
  }
}

/** A ConfigMap may contain base64 credentials, which a first look does not find. */
const mayHold = ({ root }: KubeObject, seen: Glance) => seen.credential || root.fields.has('binaryData')

function* credentialsIn(object: KubeObject, kind: string, seen: Glance, isNamed: boolean): Iterable<PlainCredential> {
  if (mayHold(object, seen)) yield* knownCredentials(kind, object)
  if (seen.secret) for (const value of embeddedSecrets(object)) if (!value.harmless) yield value
  if (isNamed) yield* namedCredentials(kind, object)
}

const ACCEPTED = message`Flux and the API server accept it`

function violation(
  node: FleetNode,
  object: KubeObject,
  path: Path,
  what: Message,
  fix: string | Message,
  consequence = ACCEPTED,
): Violation {
  const value = at(object.root, path)
  const [first = '', ...rest] = path
  const written = value?.type === 'scalar' && value.movedFrom !== undefined ? value.movedFrom : first
  const place = listed(
    [written, ...rest].map(step => quoted('field', String(step))),
    ' ',
  )
  // not the value itself: a public hash of it would allow guessing
  return new Subject({ node, object }).violation(path, 'plain', {
    message: message`${whoOf(object)} ${what}, at ${place}. Allowed: values that SOPS encrypted, with their sops block. ${consequence}.`,
    fix: asMessage(fix),
  })
}

/** The verdict lists these findings apart from warnings (see Verdict.notEvaluated). */
export const UNENCRYPTED_SETTING = 'unencrypted-setting'

const MAX_NAMES = 10

/** What plaintext-secret accepts is listed: a key and a form are not proof. */
export const unencryptedSetting: Rule = {
  id: UNENCRYPTED_SETTING,
  severity: 'low',
  level: 'warning',
  title: 'Unencrypted setting in a Secret',
  why: 'A host, a user name, a placeholder or a public key in a Secret is not secret. It does not block. Bailiwick cannot verify that the value is not sensitive.',
  docs: 'No action is required if the value is not sensitive. It is listed under `notEvaluated` in the JSON and never blocks. Otherwise move settings to a ConfigMap or encrypt the whole Secret. To require encryption of every value, give the rule a severity under `severities` in .github/bailiwick.yaml: the finding is then a violation.',
  kinds: 'every',
  *checkObject(subject) {
    const { object, kind } = subject
    const values = [...openIn(object, kind)].filter(
      ({ path, harmless }) => harmless !== undefined && !isRefused(subject, path),
    )
    if (values.length === 0) return
    const shownOnes = values
      .slice(0, MAX_NAMES)
      .map(({ path, harmless }) => message`${quoted('field', String(path.at(-1)))} (${untyped(harmless ?? '')})`)
    const more = andMore(values.length - MAX_NAMES)
    yield subject.violation(values[0]!.path.slice(0, -1), 'settings', {
      message: message`${whoOf(object)}: ${values.length === 1 ? '1 value is' : message`${values.length} values are`} not encrypted and not considered a secret: ${listed(shownOnes)}${untyped(more)}.`,
      fix: message`Encrypt the Secret with SOPS if one of the values is a secret.`,
    })
  },
}

type SettingSubject = Parameters<NonNullable<Rule['checkObject']>>[0]

function openIn(object: SettingSubject['object'], kind: string): Iterable<OpenValue> {
  if (kind === '/Secret') return openValues(object.root, isSealed(object))
  return !isDocumentation(object) && glanceAt(object.root).secret ? embeddedSecrets(object) : []
}

/** Limit on what is read of one repository: above any real size of manifests. */
const MAX_BYTES = 64 * 1024 * 1024
const YAML = /\.ya?ml$/i
const TEXT =
  /(?:\.(?:env|pem|key|agekey|asc|json|txt|conf|cfg|ini|toml|properties|sh|md)|(?:^|\/)(?:\.env|kubeconfig|id_[a-z0-9]+))$/i

/** Credentials outside of objects: in comments of manifests, and in files beside them. */
export function* secretsInFiles({ url, tree, nodes }: EvaluatedRepository): Iterable<Violation> {
  if (nodes.length === 0) return
  let left = MAX_BYTES
  let unread: string | undefined
  for (const { path, isInside } of files(tree, nodes)) {
    const bytes = left < 0 ? undefined : readUnlessLarge(tree, path)
    left -= bytes?.length ?? MAX_BYTES
    if (!bytes || left < 0) {
      const reader = isInside && readersOf(nodes, path).find(node => isBelow(node, path))
      unread ??= path
      if (!reader) continue
      yield notRead(reader, url, path)
      return
    }
    const found = YAML.test(path) ? inComments(bytes) : inText(bytes)
    if (!found) continue
    const { what, line } = found
    yield* readersOf(nodes, path).map(
      (node): Violation =>
        Subject.ofNode(node).violation([], `${path} ${what}`, {
          origin: { repository: url, file: path, line, column: 1 },
          message: message`the file ${quoted('path', path)} contains ${untyped(what)} in plain text. Allowed: values that SOPS encrypted. Everyone who can read the repository or its history can read it.`,
          fix: message`Remove the value and rotate it: it is already in git.`,

          // a tenant may deploy from a program's repository, with test keys beside its sources
          ...(isInside ? {} : { level: 'warning' }),
        }),
    )
  }
  if (unread !== undefined) yield { ...notRead(nodes[0]!, url, unread), level: 'warning' }
}

function notRead(node: FleetNode, repository: string, file: string): Violation {
  const what = message`the repository holds more than ${MAX_BYTES / 1024 / 1024} MiB of text: ${quoted('path', file)} and later files were not searched for credentials`
  return overLimit(node, what, 'Move large files out of the deployed directories.', {
    repository,
    file,
    line: 1,
    column: 1,
  })
}

/** Those in folders that are deployed come first: what lies beside them leaves these no less room. */
function files(tree: Tree, nodes: readonly FleetNode[]): { readonly path: string; readonly isInside: boolean }[] {
  const folders = new Set(nodes.map(({ path }) => artifactPath(path)))
  const inside: string[] = []
  const beside: string[] = []
  const open = [{ path: '', isInside: folders.has('') }]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const { type, path } of tree.list(folder.path)) {
      if (type === 'directory') open.push({ path, isInside: folder.isInside || folders.has(path) })
      else if (type === 'file' && (YAML.test(path) || TEXT.test(path))) (folder.isInside ? inside : beside).push(path)
    }
  }
  return [...inside.map(path => ({ path, isInside: true })), ...beside.map(path => ({ path, isInside: false }))]
}

function inText(bytes: Uint8Array) {
  const text = bufferOf(asUtf8(bytes)).toString('latin1')
  const found = credentialIn(text)
  return found && { what: found.what, line: lineAt(text, found.index) }
}

/** Comment lines as one text without the comment marks: a key may span several. */
function inComments(bytes: Uint8Array) {
  const text = bufferOf(asUtf8(bytes)).toString('latin1')
  if (!text.includes('#')) return undefined
  const lines: { readonly text: string; readonly line: number }[] = []
  let number = 0
  for (const line of text.split('\n')) {
    number++
    const mark = /(?:^|\s)#/.exec(line)
    if (mark) lines.push({ text: line.slice(mark.index).replace(/^[\s#]+/, ''), line: number })
  }
  const joined = lines.map(one => one.text).join('\n')
  const found = credentialIn(joined)
  return found && { what: found.what, line: lines[lineAt(joined, found.index) - 1]?.line ?? 1 }
}

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length

/** Results of a first look at an object: most need no second. */
interface Glance {
  credential: boolean
  secret: boolean
  environment: boolean
}

/** Looks at each value and name of an object once. */
const glanceAt = oncePer((root: Node): Glance => {
  const seen: Glance = { credential: false, secret: false, environment: false }
  look(root, seen, true)
  return seen
})

function look(node: Node, seen: Glance, isRoot: boolean): void {
  if (node.type === 'scalar') {
    if (typeof node.value === 'string' && !seen.credential) seen.credential = mayHoldCredential(node.value)
  } else if (node.type === 'list') for (const item of node.items) look(item, seen, false)
  else {
    for (const [key, { value }] of node.fields) {
      if (key === 'env') seen.environment = true
      if (key === 'kind' && !isRoot && value.type === 'scalar' && value.value === 'Secret') seen.secret = true
      look(value, seen, false)
    }
  }
}

/** A value that is, or very likely is, a credential in the open. */
interface PlainCredential {
  readonly path: Path
  readonly what: string
  /** Only the name marks it as a credential, not the value. */
  readonly byName: boolean
}

/** A value of an embedded Secret; `harmless`: why it is not a secret. */
type EmbeddedValue = PlainCredential & Pick<OpenValue, 'harmless'>

/** Credentials in an object other than a Secret, by their form. */
function* knownCredentials(kind: string, { root }: KubeObject): Iterable<PlainCredential> {
  const binary = kind === '/ConfigMap' ? at(root, ['binaryData']) : undefined
  if (binary?.type === 'map') {
    for (const [key, { value }] of binary.fields) {
      const text = value.type === 'scalar' && typeof value.value === 'string' ? value.value : ''
      const found = credentialIn(Buffer.from(text, 'base64').toString('latin1'))
      if (found) yield { path: ['binaryData', key], what: found.what, byName: false }
    }
  }
  for (const { path, node } of scalarsOf(root)) {
    if (typeof node.value !== 'string' || node.opaque) continue
    const found = credentialIn(node.value)
    if (found) yield { path, what: found.what, byName: false }
  }
}

/** Secrets inside of objects of other kinds: what a controller would create from a list of manifests. */
function* embeddedSecrets({ root }: KubeObject): Iterable<EmbeddedValue> {
  for (const { path, node } of everyMap(root)) {
    if (path.length === 0 || stringAt(node, ['kind']) !== 'Secret' || stringAt(node, ['apiVersion']) !== 'v1') continue
    // a policy that generates a Secret names it beside its data, not in metadata
    if (at(node, ['metadata'])?.type !== 'map') continue
    for (const { path: inner, harmless } of openValues(node, false)) {
      const value = { path: [...path, ...inner], what: 'a value of a Secret', byName: false }
      yield harmless ? { ...value, harmless } : value
    }
  }
}

/** Fields whose names people choose and whose values programs read. */
const NAMED: ReadonlyMap<string, readonly Path[]> = new Map<string, readonly Path[]>([
  ...[...valuesOf(row => row.free)].map(([kind, path]) => [kind, [path]] as const),
  ['/ConfigMap', [['data']]],
])

/** Whether names of this kind's values tell what they are. */
const hasNames = (kind: string): boolean => NAMED.has(kind)

/** Credentials by the name that they have: in values of charts, variables, ConfigMaps and the environment of containers. */
function* namedCredentials(kind: string, object: KubeObject): Iterable<PlainCredential> {
  const places = NAMED.get(kind)
  if (!places) {
    yield* environment(object.root)
    return
  }
  for (const base of places) {
    const root = at(object.root, base)
    if (!root) continue
    for (const { path, node } of scalarsOf(root, base)) {
      if (node.opaque || typeof node.value === 'boolean' || node.value === null) continue
      const name = String(path.findLast(step => typeof step === 'string'))
      const text = String(node.value)
      if (isCredentialName(name) ? isLiteral(text) : kind === '/ConfigMap' && assignedCredential(text) !== undefined) {
        yield { path, what: 'a credential', byName: true }
      }
    }
  }
  if (kind !== '/ConfigMap') yield* environment(object.root)
}

function* environment(root: Node): Iterable<PlainCredential> {
  for (const { path, node } of everyMap(root)) {
    const list = node.fields.get('env')?.value
    if (list?.type !== 'list') continue
    for (const [index, item] of list.items.entries()) {
      const value = at(item, ['value'])
      if (value?.type !== 'scalar' || value.opaque || typeof value.value !== 'string') continue
      if (!isCredentialName(stringAt(item, ['name']) ?? '') || !isLiteral(value.value)) continue
      yield { path: [...path, 'env', index, 'value'], what: 'a credential', byName: true }
    }
  }
}

/** Kinds whose text is documentation, megabytes of it, and never a value. */
const isDocumentation = (object: KubeObject): boolean => idOf(object).kind === 'CustomResourceDefinition'
