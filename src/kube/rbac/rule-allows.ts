import type { PolicyRule } from './policy-rule.ts'
import type { AccessRequest } from './request.ts'

/** Whether one rule allows a request (RuleAllows of k8s.io/kubernetes plugin/pkg/auth/authorizer/rbac). */
export function ruleAllows(rule: PolicyRule, request: AccessRequest): boolean {
  if (!rule.verbs.includes('*') && !rule.verbs.includes(request.verb)) return false
  if ('nonResourceURL' in request) return pathMatches(rule.nonResourceURLs, request.nonResourceURL)
  return (
    (rule.apiGroups.includes('*') || rule.apiGroups.includes(request.apiGroup)) &&
    resourceMatches(rule.resources, request.resource, request.subresource ?? '') &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(request.name ?? ''))
  )
}

function resourceMatches(resources: readonly string[], resource: string, subresource: string): boolean {
  if (resources.includes('*')) return true
  if (!subresource) return resources.includes(resource)
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}

function pathMatches(urls: readonly string[], path: string): boolean {
  return urls.some(url => url === path || isPrefix(url, path))
}

/** Whether a URL of a rule ends in a star and stands before `path`. */
export function isPrefix(url: string, path: string): boolean {
  return url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''))
}
