import type { EvaluatedRepository } from '../../facts/evaluated-repository.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import type { BrokenSeal, FleetNode } from '../../fleet/model/fleet.ts'
import { at, canonical, originAt, type Path } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { listed, type Message, message, untyped } from '../../message/message.ts'
import { asMessage } from '../../message/said.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { isRefused, refusal } from './support/misplaced-values.ts'
import {
  embeddedSecrets,
  type Glance,
  glanceAt,
  hasNames,
  isDocumentation,
  knownCredentials,
  namedCredentials,
  type PlainCredential,
} from './support/plain-credentials.ts'
import { atReaders } from './support/reader-of.ts'
import { openValues } from './support/secret-values.ts'
import { secretsInFiles } from './support/secrets-in-files.ts'
import { isSealed } from './support/sops.ts'

/** Values of a Secret in git are SOPS ciphertext, each of them, and no credential stands elsewhere; whoever it belongs to. */
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

/** Whether no version of before has this value there, and one has another: values are compared here, and told nowhere. */
function isAnother(object: KubeObject, path: Path, versions: readonly { readonly object: KubeObject }[]): boolean {
  const values = versions.flatMap(({ object: { root } }) => at(root, path) ?? []).map(canonical)
  const value = at(object.root, path)
  return value !== undefined && values.length > 0 && !values.includes(canonical(value))
}

/** The command where the value stands in a file of its own; that of a generator may hold anything. Markdown shows no bar in code. */
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
    yield* atReaders(nodes, file, {
      origin: { repository: url, file, line: 0, column: 0 },
      value: `${file} seal`,
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

/** A ConfigMap may hold one in base64, which no look at it shows. */
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
  const { kind, namespace, name } = idOf(object)
  const value = at(object.root, path)
  const [first = '', ...rest] = path
  const written = value?.type === 'scalar' && value.movedFrom !== undefined ? value.movedFrom : first
  const place = listed(
    [written, ...rest].map(step => quoted('field', String(step))),
    ' ',
  )
  return {
    node,
    object,
    path,
    // Not the value itself: a hash of it in public would let people try words against it.
    value: 'plain',
    message: message`${objectPart(kind, namespace, name)} ${what}, at ${place}. Allowed: values that SOPS encrypted, with their sops block. ${consequence}.`,
    fix: asMessage(fix),
  }
}
