import type { Artifact } from '../../flux/artifact.ts'
import { at, type ScalarNode } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { hasSopsMark, type SopsFormat, sopsFormatOf } from '../../kube/sops-formats.ts'
import { overlayTree } from '../bootstrap/overlay-tree.ts'
import type { SealedFile } from '../model/cluster-values.ts'
import type { FleetNode } from '../model/fleet.ts'

/**
 * The encrypted files that Secrets of a Kustomization are generated from, and its encrypted patches, as kustomize-controller
 * would open them before the build (internal/decryptor, DecryptSources). One that it would open as a format that nobody here
 * writes, or as two, or that lies in another repository, is not among them. Undefined: there are none.
 */
export function sealedFiles(
  { objects, holes = [], error }: Pick<FleetNode, 'objects' | 'holes' | 'error'>,
  artifact: Artifact,
): readonly SealedFile[] | undefined {
  if (artifact.composed) return undefined
  const files = new Map<string, SealedFile | undefined>()
  const note = (path: string, format: SopsFormat | undefined, text: string, isKnown: boolean) => {
    const same = !files.has(path) || files.get(path)?.format === format
    files.set(path, isKnown && same && format !== undefined ? { path, format, text } : undefined)
  }
  for (const { key, value, path } of objects.flatMap(sealedValues)) {
    const text = textAt(artifact, path)
    if (text === undefined) continue
    // of an env file each key has its own line
    const isWhole = String(value.value).replaceAll('\n', '') === Buffer.from(text).toString('base64')
    const format = isWhole ? sopsFormatOf(key) : 'dotenv'
    note(path, format, text, isOpenedAs(format, text) && !(format === 'yaml' && hasComment(text)))
  }
  for (const { sealed: path } of [...holes.map(hole => hole.error), ...(error ? [error] : [])]) {
    const text = path === undefined ? undefined : textAt(artifact, path)
    if (path !== undefined && text !== undefined)
      note(path, sopsFormatOf(path), text, isOpenedAs(sopsFormatOf(path), text))
  }
  const known = [...files.values()].filter(file => file !== undefined)
  return known.length === 0 ? undefined : known
}

/** A file that is text; the encrypted ones are. */
function textAt({ tree }: Artifact, path: string): string | undefined {
  if (tree.entry(path)?.type !== 'file') return undefined
  const bytes = tree.read(path)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : undefined
}

const isOpenedAs = (format: SopsFormat | undefined, text: string) => format !== undefined && hasSopsMark(format, text)

/** sops writes comments back, at places that are not known here; in a patch they say nothing. */
const hasComment = (text: string) => /(?:^|\s)#/m.test(text)

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
