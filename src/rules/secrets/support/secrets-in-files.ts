import type { EvaluatedRepository } from '../../../facts/evaluated-repository.ts'
import { quoted } from '../../../facts/shown.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { readUnlessLarge, type Tree, type TreeEntry } from '../../../git/tree.ts'
import { message, untyped } from '../../../message/message.ts'
import { overLimit } from '../../model/over-limit.ts'
import type { Violation } from '../../model/rule.ts'
import { credentialIn } from './credential-forms.ts'
import { isBelow, readersOf } from './reader-of.ts'

/** What is read of one repository: more than the manifests of anybody. */
const MAX_BYTES = 64 * 1024 * 1024
const YAML = /\.ya?ml$/i
const TEXT =
  /(?:\.(?:env|pem|key|agekey|asc|json|txt|conf|cfg|ini|toml|properties|sh|md)|(?:^|\/)(?:\.env|kubeconfig|id_[a-z0-9]+))$/i

/** Credentials that are in no object: in comments of manifests, and in files beside them. */
export function* secretsInFiles({ url, tree, nodes }: EvaluatedRepository): Iterable<Violation> {
  if (nodes.length === 0) return
  let left = MAX_BYTES
  let unread: string | undefined
  for (const { path } of files(tree)) {
    const bytes = readUnlessLarge(tree, path)
    left -= bytes?.length ?? MAX_BYTES
    if (!bytes || left < 0) {
      const reader = readersOf(nodes, path).find(node => isBelow(node, path))
      unread ??= path
      if (!reader) continue
      yield notRead(reader, url, path)
      return
    }
    const found = YAML.test(path) ? inComments(bytes) : inText(bytes)
    if (!found) continue
    const { what, line } = found
    const isInside = nodes.some(node => isBelow(node, path))
    yield* readersOf(nodes, path).map(
      (node): Violation => ({
        node,
        object: node.kustomization,
        path: [],
        origin: { repository: url, file: path, line, column: 1 },
        value: `${path} ${what}`,
        message: message`the file ${quoted('path', path)} contains ${untyped(what)} in plain text. Allowed: values that SOPS encrypted. Everyone who can read the repository or its history can read it.`,
        fix: message`Remove the value and rotate it: it is already in git.`,
        // the keys of tests lie beside the sources of a program, whose repository a tenant may deploy from
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

function* files(tree: Tree): Iterable<TreeEntry> {
  const open = ['']
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const entry of tree.list(directory)) {
      if (entry.type === 'directory') open.push(entry.path)
      else if (entry.type === 'file' && (YAML.test(entry.path) || TEXT.test(entry.path))) {
        yield entry
      }
    }
  }
}

function inText(bytes: Uint8Array) {
  const text = Buffer.from(bytes).toString('latin1')
  const found = credentialIn(text)
  return found && { what: found.what, line: lineAt(text, found.index) }
}

/** Lines that are comments, as one text with the marks taken away: a key may go over several of them. */
function inComments(bytes: Uint8Array) {
  const text = Buffer.from(bytes).toString('latin1')
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
