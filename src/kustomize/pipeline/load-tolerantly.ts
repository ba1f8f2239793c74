import { canonical, type Node } from '../../kube/node.ts'
import type { ParsedFile } from '../../kube/yaml/parse-documents.ts'
import type { Step } from '../../origin.ts'
import { failingParts } from '../model/failing-parts.ts'
import type { Tolerance } from '../model/tolerance.ts'
import { loadResources } from '../resource/load-resources.ts'
import type { Resource } from '../resource/resource.ts'

/** The objects of one file, without the documents that hold none that kustomize takes. */
export function loadTolerantly(file: ParsedFile, trail: readonly Step[], tolerance: Tolerance): Resource[] {
  if (!tolerance.isLenient) return loadResources(file, trail)
  const load = (documents: readonly Node[], text = '') => {
    const pieces = file.pieces - file.documents.length + documents.length
    return loadResources({ ...file, documents, pieces, text }, trail)
  }
  const fails = (documents: readonly Node[]): boolean => tolerance.failureOf(() => load(documents)) !== undefined
  const failing = new Set(failingParts(file.documents, fails, tolerance.enough))
  for (const document of failing) {
    tolerance.attempt({ effect: 'missing', hides: () => canonical(document), brings: true }, () => load([document]))
  }
  return load(
    file.documents.filter(document => !failing.has(document)),
    file.text,
  )
}
