import type { Capabilities, NamingField } from './capability.ts'
import { withoutFields } from './without-fields.ts'

const apiCalls: readonly NamingField[] = [
  { at: 'spec.**.apiCall.urlPath', names: 'object', form: 'apiPath' },
  { at: 'spec.**.apiCall.service.url', names: 'service', form: 'url' },
  { at: 'spec.**.configMap.namespace', names: 'configMap', form: 'sibling' },
]

/** Kyverno (config/crds): its controllers read and write with their own rights for whoever may write a Policy. */
export const policies: Capabilities = {
  'kyverno.io/Policy': {
    scope: 'Namespaced',
    fields: [
      ...apiCalls,
      { at: 'spec.**.clone.namespace', names: 'object', form: 'sibling' },
      { at: 'spec.**.cloneList.namespace', names: 'namespace' },
      { at: 'spec.**.generate.namespace', names: 'namespace' },
      { at: 'spec.**.targets.*.namespace', names: 'namespace' },
      { at: 'spec.**.secret.namespace', names: 'secret', form: 'sibling' },
    ],
  },
  'kyverno.io/CleanupPolicy': { scope: 'Namespaced', fields: apiCalls },
  // what a PolicyException does is the rule admission-config's
  ...withoutFields('kyverno.io/PolicyException policies.kyverno.io/PolicyException'),
}
