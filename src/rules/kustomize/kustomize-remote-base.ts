import type { Rule } from '../model/rule.ts'

/** No overlay names an address. The renderer raises it. */
export const kustomizeRemoteBase: Rule = {
  id: 'kustomize-remote-base',
  severity: 'critical',
  title: 'Remote base',
  why: 'kustomize downloads a remote base, resource or file during the build. Bailiwick does not evaluate that content, and it can change at any time. Flux downloads files over http even with `--no-remote-bases`.',
  docs: 'Copy the files into the repository, or declare the other repository as a source with its own Kustomization.',
}
