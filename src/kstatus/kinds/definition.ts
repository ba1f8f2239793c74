import type { KindRule } from '../model/kind-rule.ts'
import { current, failed, inProgress } from '../model/resource-status.ts'

/** Of a CustomResourceDefinition. */
export const definitionStatus: KindRule = (_object, conditions) => {
  for (const { type, status, reason, message } of conditions) {
    if (type === 'NamesAccepted' && status === 'False') return failed(reason, message)
    if (type !== 'Established') continue
    if (status === 'False' && reason !== 'Installing') return failed(reason, message)
    if (status === 'True') return current('CRD is established')
  }
  return inProgress('Installing', 'Install in progress')
}
