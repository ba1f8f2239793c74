import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { isAbsent, mapNode, textNode, withField } from '../../kube/edit-node.ts'
import { at, type ListNode, type MapNode } from '../../kube/node.ts'
import { type ParsedFile, parseFile } from '../../kube/yaml/parse-documents.ts'
import { keepReadable, type PartReader } from '../../kustomize/fields/keep-readable.ts'
import { invalid } from '../../kustomize/fields/read-fields.ts'
import { spellVersion } from '../../kustomize/fields/type-meta.ts'
import { refusePointer } from '../../kustomize/paths/refuse-pointer.ts'
import type { Origin } from '../../origin.ts'
import { typedRoot } from './typed-root.ts'

/**
 * The kustomization file that `spec.path` points at, as Flux writes it back before it builds: its first document, read
 * leniently. Without `resources` Flux asks for origin annotations, so that the file is not called empty.
 */
export function readRoot(tree: Tree, repository: string, file: string, { tolerance, hides }: Parts): MapNode {
  const start: Origin = { repository, file, line: 1, column: 1 }
  const bytes = tree.read(file)
  refusePointer(bytes, start)
  const parsed = parseFile(tree.place?.(file) ?? { repository, path: file }, bytes)
  const [written] = parsed.documents
  const document = written?.type === 'map' ? spellVersion(written) : written
  if (parsed.documents.length > 1 || (document && isLater(parsed, document.origin))) {
    const others = parsed.documents.slice(1)
    tolerance.attempt({ effect: 'different', hides: () => hides(others) }, () => refuseSecond(file, start))
  }
  if (document && document.type !== 'map' && !isAbsent(document)) invalid(`${file}: not a map`, document.origin)
  const root = typedRoot(document?.type === 'map' ? readable(document, { tolerance, hides }) : mapNode([], start))
  const versioned =
    document?.type === 'map' && !isAbsent(at(document, ['apiVersion']))
      ? root
      : withField(root, 'apiVersion', textNode('kustomize.config.k8s.io/v1beta1', root.origin))
  return at(versioned, ['resources']) ? versioned : withField(versioned, 'buildMetadata', originAnnotations(start))
}

/** How parts of the file are taken out, and what that hides. */
type Parts = Pick<PartReader, 'tolerance' | 'hides'>

function readable(document: MapNode, parts: Parts): MapNode {
  if (!parts.tolerance.isLenient) return document
  return keepReadable(document, mapNode([], document.origin), { ...parts, read: typedRoot })
}

function refuseSecond(file: string, origin: Origin): never {
  const message = `${file}: more than one document, and Flux reads only the first`
  throw new BailiwickError('flux-unsupported', message, { origin, fix: 'Keep one document in the file.' })
}

function originAnnotations(origin: Origin): ListNode {
  return { type: 'list', items: [textNode('originAnnotations', origin)], origin }
}

/** Whether a document stands behind an empty one. */
function isLater({ pieces, text }: ParsedFile, { line }: Origin): boolean {
  if (pieces === 1) return false
  const lines = text.split('\n')
  const end = lines.findIndex((one, index) => index > 0 && one.startsWith('---'))
  return end >= 0 && line > end && lines.slice(0, end).every(one => /^(?:---.*|\s*(?:#.*)?)$/.test(one))
}
