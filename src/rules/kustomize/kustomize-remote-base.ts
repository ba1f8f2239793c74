import type { Rule } from '../model/rule.ts'

/** No overlay names an address. The renderer raises it. */
export const kustomizeRemoteBase: Rule = {
  id: 'kustomize-remote-base',
  severity: 'critical',
  title: 'Nothing is fetched from elsewhere while rendering',
  why: `A base, resource or file that kustomize fetches by an address is content that nobody judged and that can change at any time. Flux fetches http files even with --no-remote-bases.`,
  docs: `Copy the files into the repository, or declare the other repository as a source with a Kustomization of its own.`,
}
