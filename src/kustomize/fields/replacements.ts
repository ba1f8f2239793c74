import { applyReplacement } from '../replace/apply-replacement.ts'
import { readReplacementFile } from './read-replacements.ts'
import type { Transformer } from './transformer.ts'

/** The field `replacements`: values that are copied from object to object, in the order in which they are written. */
export const replacements: Transformer = (resources, { kustomization, budget, file }) => {
  // kustomize reads all files before it copies anything
  const all = kustomization.replacements.flatMap(entry =>
    'path' in entry ? readReplacementFile(file(entry.path), entry.path) : [entry],
  )
  for (const replacement of all) applyReplacement(resources, replacement, budget)
  resources.checkUnique()
}
