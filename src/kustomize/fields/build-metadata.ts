import type { Entry } from '../model/entry.ts'
import type { KustomizationField } from './field.ts'
import { textList } from './read-fields.ts'

/** What is noted in the objects (`originAnnotations`) or marks them (`managedByLabel`); counts in the root only, also without objects. */
export const buildMetadata: KustomizationField<readonly Entry[]> = {
  goType: '[string',
  effect: 'changes',
  read: root => textList(root, 'buildMetadata'),
  docs: {
    built: 'of the root: `originAnnotations`, `managedByLabel`',
    refused:
      '`transformerAnnotations`; paths and names that YAML puts in quotes; a patch that removes all annotations, with `originAnnotations`',
  },
}
