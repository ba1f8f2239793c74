import type { Artifact } from '../../flux/artifact.ts'
import { at, type ScalarNode } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { hasSopsMark, sopsFormatOf } from '../../kube/sops-formats.ts'
import { overlayTree } from '../bootstrap/overlay-tree.ts'
import type { SealedFile } from '../model/cluster-values.ts'

/**
 * The encrypted files that Secrets of a Kustomization are generated from, as kustomize-controller would open them before the
 * build (internal/decryptor, DecryptSources). One that it would open as a format that nobody here writes, or as two, or that
 * lies in another repository, is not among them. Undefined: there are none.
 */
export function sealedFiles(objects: readonly KubeObject[], artifact: Artifact): readonly SealedFile[] | undefined {
  if (artifact.composed) return undefined
  const files = new Map<string, SealedFile | undefined>()
  for (const { key, value, path } of objects.flatMap(sealedValues)) {
    if (artifact.tree.entry(path)?.type !== 'file') continue
    const bytes = artifact.tree.read(path)
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
    // of an env file each key has its own line
    const isWhole = String(value.value).replaceAll('\n', '') === Buffer.from(text).toString('base64')
    const format = isWhole ? sopsFormatOf(key) : 'dotenv'
    const isKnown = format !== undefined && hasSopsMark(format, text) && Buffer.from(text).equals(bytes)
    const same = !files.has(path) || files.get(path)?.format === format
    files.set(path, isKnown && same ? { path, format, text } : undefined)
  }
  const known = [...files.values()].filter(file => file !== undefined)
  return known.length === 0 ? undefined : known
}

function sealedValues(object: KubeObject): { key: string; value: ScalarNode; path: string }[] {
  const data = idOf(object).kind === 'Secret' ? at(object.root, ['data']) : undefined
  if (data?.type !== 'map') return []
  return [...data.fields].flatMap(([key, { value }]) => {
    // what a generator read has no holder: it is in git
    if (value.type !== 'scalar' || value.opaque?.length !== 0) return []
    return [{ key, value, path: value.origin.file }]
  })
}

/** The artifact with encrypted files in clear, as Flux opens them in place before it builds. */
export function withPlain(artifact: Artifact, files: ReadonlyMap<string, Uint8Array> | undefined): Artifact {
  return files?.size ? { ...artifact, tree: overlayTree(artifact.tree, files) } : artifact
}
