import { type Document, isMap, isScalar, parseAllDocuments, type YAMLMap } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import { FleetSession } from '../../fleet/graph/fleet-session.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { overlayTree } from '../../fleet/rendering/trees.ts'
import type { Tree } from '../../git/tree.ts'
import { at, canonical, stringAt } from '../../kube/node.ts'
import { display, idOf } from '../../kube/object.ts'
import { stableText } from './edit-kustomization.ts'
import { fleetAt, tenantLayout } from './tenant-layout.ts'

/** The Secret with the keys of a cluster, by the guide of Flux. */
const DEFAULT_SECRET = 'sops-age'

/** How a cluster comes to decrypt the files of its tenants. */
interface DecryptionPlan {
  /** Where the Secret with the private key belongs. */
  readonly namespace: string
  readonly secret: string
  /** Directory of the files of tenants. */
  readonly base: string
  /** Key of the Kustomization that decrypts. */
  readonly node: string
  /** Its file with the new field; undefined where the field is there. */
  readonly edit: { readonly path: string; readonly content: string } | undefined
}

/**
 * The edit that makes the Kustomization which applies the tenants of `cluster` decrypt with SOPS. Every other object of every
 * cluster stays as it is. Throws `onboard-input` for an unknown cluster and `onboard-layout` where this is not possible.
 */
export function planDecryption(tree: Tree, fleetUrl: string, branch: string, cluster: string): DecryptionPlan {
  const session = new FleetSession()
  const before = fleetAt(tree, fleetUrl, branch, session)
  const { node: key, base } = tenantLayout(before, tree, fleetUrl, cluster)
  const { kustomization, namespace, name } = before.nodes.find(one => one.key === key)!
  const { root } = kustomization
  if (at(root, ['spec', 'decryption'])) {
    const provider = stringAt(root, ['spec', 'decryption', 'provider'])
    const given = stringAt(root, ['spec', 'decryption', 'secretRef', 'name'])
    if (provider === 'sops' && given !== undefined)
      return { namespace, secret: given, base, node: key, edit: undefined }
    throw new BailiwickError('onboard-layout', `spec.decryption: ${key} names no Secret with keys`, {
      fix: `Set \`decryption: {provider: sops, secretRef: {name: ${DEFAULT_SECRET}}}\`.`,
      origin: at(root, ['spec', 'decryption'])!.origin,
    })
  }
  const path = root.origin.file
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(path))
  const content = addDecryption({ file: path, text, namespace, name }, DEFAULT_SECRET)
  const after = fleetAt(overlayTree(tree, new Map([[path, content]])), fleetUrl, branch, session)
  const changed = changedObjects(before, after)
  const [only, second] = changed
  if (only !== undefined && second === undefined)
    return { namespace, secret: DEFAULT_SECRET, base, node: key, edit: { path, content } }
  throw new BailiwickError(
    'onboard-layout',
    `${path}: decryption for ${cluster} would change ${changed.length === 0 ? 'nothing that is rendered' : changed.slice(0, 5).join(', ')}`,
    {
      fix: 'Give each cluster a Kustomization of its own for its tenants.',
      origin: { repository: '', file: path, line: 1, column: 1 },
    },
  )
}

function changedObjects(before: Fleet, after: Fleet): string[] {
  const old = contentOf(before)
  const now = contentOf(after)
  return [...new Set([...old.keys(), ...now.keys()])].filter(key => old.get(key) !== now.get(key))
}

function contentOf(fleet: Fleet): ReadonlyMap<string, string> {
  return new Map(
    fleet.nodes.flatMap(node => [
      [node.key, node.error?.message ?? ''] as const,
      ...node.objects.map(object => [`${display(idOf(object))} of ${node.key}`, canonical(object.root)] as const),
    ]),
  )
}

/** A Flux Kustomization, and the file that declares it. */
interface DeclaredKustomization {
  readonly file: string
  readonly text: string
  readonly namespace: string
  readonly name: string
}

/**
 * Adds `spec.decryption` for SOPS with the keys of the Secret `secret`, and leaves every other character alone. Throws
 * `onboard-layout` where the file declares no such object, or in a way that an edit of lines cannot express.
 */
function addDecryption(declared: DeclaredKustomization, secret: string): string {
  const { text } = declared
  const index = parsed(text).findIndex(document => declares(document.toJS(), declared))
  const spec = parsed(text)[index]?.get('spec')
  const first = isMap(spec) && !spec.flow ? spec.items[0]?.key : undefined
  const start = isScalar(first) ? first.range?.[0] : undefined
  if (start === undefined) throw byHand(declared, secret)
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const indent = text.slice(lineStart, start)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = ['decryption:', '  provider: sops', '  secretRef:', `    name: ${secret}`]
  const made = `${text.slice(0, lineStart)}${lines.map(line => `${indent}${line}${eol}`).join('')}${text.slice(lineStart)}`
  const expected = parsed(text)
  const decryption = { provider: 'sops', secretRef: { name: secret } }
  ;(expected[index]!.get('spec') as YAMLMap).set('decryption', expected[index]!.createNode(decryption))
  const after = parsed(made)
  const isSound = indent.trim() === '' && after.every(document => document.errors.length === 0)
  if (!isSound || dataOf(after) !== dataOf(expected)) throw byHand(declared, secret)
  return made
}

const parsed = (text: string): readonly Document[] => [...parseAllDocuments(text)]
const dataOf = (documents: readonly Document[]) => stableText(documents.map(document => document.toJS()))

function declares(data: unknown, { namespace, name }: DeclaredKustomization): boolean {
  const object = data as { kind?: unknown; metadata?: { namespace?: unknown; name?: unknown } } | null
  if (object?.kind !== 'Kustomization' || object.metadata?.name !== name) return false
  return (object.metadata.namespace ?? namespace) === namespace
}

function byHand({ file, namespace, name }: DeclaredKustomization, secret: string): BailiwickError {
  return new BailiwickError(
    'onboard-layout',
    `${file}: the Kustomization ${namespace}/${name} cannot be edited line by line`,
    {
      fix: `Add \`decryption: {provider: sops, secretRef: {name: ${secret}}}\` to its spec, then run the command again.`,
      origin: { repository: '', file, line: 1, column: 1 },
    },
  )
}
