import type { AdmissionRequest } from './admission-request.ts'

/**
 * The namespace of a request, empty for what is in none. A Namespace is in itself: its URL names it (`NewRequestInfo` of
 * k8s.io/apiserver/pkg/endpoints/request).
 */
export function requestNamespace({ id, isNamespaced }: AdmissionRequest): string {
  if (id.kind === 'Namespace' && id.apiVersion === 'v1') return id.name
  return isNamespaced ? id.namespace : ''
}
