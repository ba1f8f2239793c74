import type { FakeGitHub } from '../../../tools/github/start.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { withResource } from './red-together.ts'

/** Stands in every file of the private repository, and nowhere else. */
export const CANARY = 'canary-7f3a'

/** A repository that breaks rules wherever it is evaluated, so that whoever shows it shows the canary. */
const secretFiles = {
  'deploy/kustomization.yaml': `resources:\n  - ${CANARY}.yaml\n`,
  [`deploy/${CANARY}.yaml`]: `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${CANARY}
  namespace: kube-system
data:
  word: ${CANARY}
`,
}

/** Adds a repository of acme's that only its administrators and `readers` may read. */
export function addPrivate(github: FakeGitHub, name: string, readers: readonly string[] = [], isPrivate = true): void {
  github.addRepository({ owner: 'acme', name, files: secretFiles, roles: readRoles(readers), private: isPrivate })
}

/** The same, seen by all of the enterprise: its members may read it, and nobody else. */
export function addInternal(github: FakeGitHub, name: string): void {
  github.addRepository({ owner: 'acme', name, files: secretFiles, internal: true })
}

/** One that breaks no rule: what it says is shown, and its pull requests get into a queue. */
export function addTidy(github: FakeGitHub, name: string, readers: readonly string[]): void {
  const file = `deploy/${CANARY}.yaml`
  const files = { ...secretFiles, [file]: secretFiles[file]!.replace('kube-system', 'apps') }
  github.addRepository({ owner: 'acme', name, files, roles: readRoles(readers) })
}

const readRoles = (logins: readonly string[]) => Object.fromEntries(logins.map(login => [login, 'read' as const]))

export const urlOf = (name: string) => `https://github.com/acme/${name}`

/** A GitRepository of the namespace apps. */
export function source(name: string, url: string, more = ''): string {
  return `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: ${name}
  namespace: apps
spec:
  interval: 1m0s
  url: ${url}
  ref:
    branch: main
${more}`
}

/** A Kustomization of the namespace apps that follows one, as the team's account. */
export function follower(name: string, path = './deploy'): string {
  return `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: apps
spec:
  interval: 1m0s
  path: ${path}
  prune: true
  serviceAccountName: dev-team
  sourceRef:
    kind: GitRepository
    name: ${name}
`
}

/** Files of dev-team with one more manifest that both clusters get. */
export function withManifest(text: string): Record<string, string> {
  return {
    'base/kustomization.yaml': withResource('base/kustomization.yaml', 'more-sources.yaml'),
    'base/more-sources.yaml': text,
  }
}

/** The fleet's sync of dev-team with more manifests of the platform's. */
export function withPlatformManifest(text: string): Record<string, string> {
  const file = 'tenants/base/dev-team/sync.yaml'
  return { [file]: `${fleetFiles('acme/fleet')[file]!.trimEnd()}\n---\n${text}` }
}
