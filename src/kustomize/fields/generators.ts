import { itemsOf, type ScalarNode } from '../../kube/node.ts'
import type { Entry } from '../model/entry.ts'
import type { FieldDocs, KustomizationField } from './field.ts'
import { textList } from './read-fields.ts'

/** An entry that is a path, or objects written out. */
export type ConfigEntry = Entry & { readonly node: ScalarNode }

const docs: FieldDocs = {
  built: "files, directories and objects of kustomize's builtins (`apiVersion: builtin`)",
  refused:
    'everything that is not a builtin (`kustomize-plugin`), paths outside of the repository; a field in other upper or lower case; the ' +
    'name of the root directory as a value',
}

/** Objects that configure builtins which make objects, or where such objects are. */
export const generators: KustomizationField<readonly ConfigEntry[]> = {
  goType: '[string',
  effect: 'brings',
  leftOut: { objects: 'also', reach: 'kustomization' },
  paths: itemsOf,
  holdsBuiltins: true,
  read: root => textList(root, 'generators'),
  docs,
}

/** The same for builtins that change objects, after all fields have. */
export const transformers: KustomizationField<readonly ConfigEntry[]> = {
  goType: '[string',
  effect: 'reads',
  leftOut: { reach: 'kustomization' },
  paths: itemsOf,
  holdsBuiltins: true,
  read: root => textList(root, 'transformers'),
  docs,
}
