import { expect, onTestFinished } from 'vitest'
import { type App, openApp } from '../../../src/github/client/app.ts'
import { LOOPBACK_PACE } from '../../../src/github/client/client-class.ts'
import type { AppIdentity, Octokit, OurRepository } from '../../../src/github/client/octokit.ts'
import { type FakeGitHub, startGitHub } from '../../../tools/github/start.ts'

interface Acme {
  readonly github: FakeGitHub
  readonly app: App
  readonly identity: AppIdentity
  readonly octokit: Octokit
  /** The repository of the fleet with that client. */
  readonly fleet: OurRepository
  readonly installation: number
  /** Requests since the last call, `METHOD route`. */
  asked(): string[]
}

export const FLEET = { owner: 'acme', repo: 'fleet' }
const FILES = {
  'clusters/staging/apps.yaml': 'kind: Kustomization\n',
  'tenants/dev/rbac.yaml': 'kind: RoleBinding\n',
  'tenants/dev/sync.yaml': 'kind: GitRepository\n',
  'README.md': '# fleet\n',
}

/** The organisation acme with its fleet, and our App installed there. What GitHub's description forbids fails the test. */
export async function acme(files: Readonly<Record<string, string>> | undefined = FILES): Promise<Acme> {
  const github = await startGitHub({ mergeabilityDelayMs: 0 })
  onTestFinished(async () => {
    await github.close()
    expect(github.violations).toEqual([])
    expect(github.unknown).toEqual([])
  })
  github.addOrganization('acme', { admins: ['ada'], members: ['dev'] })
  github.addRepository({ owner: 'acme', name: 'fleet', roles: { dev: 'write' }, ...(files ? { files } : {}) })
  const { id: installation } = github.install(github.app, 'acme')
  const app = openApp({
    appId: github.app.id,
    privateKey: github.app.privateKey,
    baseUrl: github.url,
    pace: LOOPBACK_PACE,
    readRetries: 0,
  })
  const asked = () => {
    const routes = github.requests.map(({ method, route }) => `${method} ${route.replace('/repos/{owner}/{repo}', '')}`)
    github.forget()
    // the archive itself comes from another host, which has no limit of requests
    return routes.filter(route => !/access_tokens|_codeload/.test(route))
  }
  const identity = await app.identity()
  const octokit = await app.client(installation)
  asked()
  return { github, app, identity, octokit, fleet: { ...FLEET, octokit, app: identity }, installation, asked }
}
