import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import { parseFile } from '../kube/parse-documents.ts'
import type { Kustomization } from '../kustomize/kustomization.ts'
import { readKustomization } from '../kustomize/read/read-kustomization.ts'

/**
 * The kustomization file that `spec.path` points at. Flux reads it leniently and drops unknown fields; those are refused
 * here. Without `resources` Flux asks for origin annotations, so what it then generates would differ: refused, too.
 */
export function readRootKustomization(tree: Tree, repository: string, file: string, directory: string): Kustomization {
  const parsed = parseFile({ repository, path: file }, tree.read(file))
  const kustomization = readKustomization(file, directory, parsed.documents)
  const { configMapGenerator, secretGenerator, components } = kustomization
  const makes = configMapGenerator.length > 0 || secretGenerator.length > 0 || components.length > 0
  if (kustomization.resources.length > 0 || !makes) return kustomization
  const origin = { repository, file, line: 1, column: 1 }
  const message = `${file} makes objects without listing resources; Flux annotates such objects`
  throw new BailiwickError('flux-unsupported', message, { origin, fix: 'List at least one resource.' })
}
