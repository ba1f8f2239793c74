import type { Entry } from '../model/entry.ts'
import type { KustomizationField } from './field.ts'
import { textList } from './read-fields.ts'

/** What is noted in the objects (`originAnnotations` and others); counts in the root only, also without objects. */
export const buildMetadata: KustomizationField<readonly Entry[]> = {
  goType: '[string',
  effect: 'changes',
  read: root => textList(root, 'buildMetadata'),
  docs: {
    built: 'of the root: `originAnnotations`, `transformerAnnotations`, `managedByLabel`',
    refused: 'paths and names that YAML puts in quotes; several patches, one of which removes all annotations',
  },
}
