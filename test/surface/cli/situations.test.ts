import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { git, write } from './run-main.ts'
import {
  as,
  BAD,
  configMap,
  DEV,
  detached,
  FLEET,
  fleetFiles,
  fleetOnBranch,
  run,
  type Situation,
  TENANT,
  tenantOnBranch,
  testAll,
  tracked,
  world,
} from './situation.ts'

const FORK = 'https://github.com/otto/fleet'

/** A clone of a fork: its clusters follow the address of the original. */
function forkOnBranch(): string {
  const fleet = fleetOnBranch()
  git(fleet, 'remote', 'set-url', 'origin', FORK)
  return fleet
}

/** A clone that is not known by the name that its clusters follow, with a change to this one. */
function renamedTo(url: string): string {
  const fleet = world().fleet
  git(fleet, 'remote', 'set-url', 'origin', FORK)
  git(fleet, 'checkout', '--quiet', '-b', 'feature/x')
  const [path, text] = Object.entries(fleetFiles())[0]!
  write(fleet, { [path]: text.replace(FLEET, url) })
  git(fleet, 'commit', '--quiet', '-am', 'change')
  return fleet
}

/** A clone of a fork whose sync says the address of the original only once it is rendered. */
function forkWith(files: (sync: string) => Record<string, string>): string {
  const fleet = world().fleet
  git(fleet, 'remote', 'set-url', 'origin', FORK)
  write(fleet, files(Object.values(fleetFiles())[0]!))
  git(fleet, 'add', '-A')
  git(fleet, 'commit', '--quiet', '-m', 'change')
  return fleet
}

const BY_VARIABLE = '"https://github.com/$' + '{OWNER}/fleet"'
const SYNC = 'clusters/prod/flux-system/gotk-sync.yaml'

const situations: Record<string, Situation> = {
  'a fork whose sync names the original by a variable': {
    given: () =>
      forkWith(sync => ({
        [SYNC]: sync
          .replace(FLEET, BY_VARIABLE)
          .replace('prune: true', 'prune: true, postBuild: { substitute: { OWNER: acme } }'),
      })),
    args: ['--base', 'main'],
    code: 0,
    says: [`of ${FLEET} (--base main; all clusters follow this address, none follows the remote ${FORK})`],
  },
  'a fork whose sync names the original by a patch': {
    given: () =>
      forkWith(sync => ({
        [SYNC]: sync.replace(FLEET, 'https://github.com/acme/template'),
        'clusters/prod/flux-system/kustomization.yaml': `resources: [gotk-sync.yaml]\npatches: [{ target: { kind: GitRepository }, patch: '[{"op":"replace","path":"/spec/url","value":"${FLEET}"}]' }]\n`,
      })),
    args: ['--base', 'main'],
    code: 0,
    says: [`of ${FLEET} (--base main; all clusters follow this address, none follows the remote ${FORK})`],
  },
  'a fork whose sync names a variable that nothing sets': {
    given: () => forkWith(sync => ({ [SYNC]: sync.replace(FLEET, BY_VARIABLE) })),
    args: ['--base', 'main'],
    code: 2,
    says: [FORK],
  },
  'a fork of the fleet is evaluated by the address that its clusters follow': {
    given: forkOnBranch,
    args: ['--base', 'main'],
    code: 1,
    says: [
      'sa-required',
      `of ${FLEET} (--base main; all clusters follow this address, none follows the remote ${FORK})`,
    ],
  },
  'a change that has its clusters follow the remote by name changes nothing else': {
    given: () => renamedTo(FORK),
    args: ['--base', 'main'],
    code: 0,
    says: [`of ${FLEET} (--base main; all clusters follow this address, none follows the remote ${FORK})`],
  },
  'a change that has its clusters follow another repository is not evaluated': {
    given: () => renamedTo('https://github.com/acme/other'),
    args: ['--base', 'main'],
    code: 2,
    says: ['https://github.com/acme/other'],
  },
  "a fleet beside a tenant's repository is evaluated by the address that its clusters follow": {
    given: () => {
      const tenant = tenantOnBranch()
      git(join(tenant, '../fleet'), 'remote', 'set-url', 'origin', FORK)
      return tenant
    },
    args: [...TENANT, '--base', 'main'],
    code: 1,
    says: ['namespace-confinement'],
  },
  'a change does not say which repository it is in': {
    given: () => {
      const fleet = world().fleet
      git(fleet, 'checkout', '--quiet', '-b', 'feature/x')
      const [path, text] = Object.entries(fleetFiles())[0]!
      write(fleet, { [path]: text.replace(FLEET, FORK) })
      git(fleet, 'commit', '--quiet', '-am', 'change')
      return fleet
    },
    args: ['--base', 'main'],
    code: 2,
    says: [`of ${FLEET} (--base main)`],
  },
  'where clusters follow two other addresses none is taken for it': {
    given: () => {
      const fleet = forkOnBranch()
      const staging = Object.entries(fleetFiles()).map(([path, text]) => [
        path.replace('/prod/', '/staging/'),
        text.replace('./clusters/prod', './clusters/staging').replaceAll(FLEET, 'https://github.com/acme/other'),
      ])
      return write(fleet, Object.fromEntries(staging))
    },
    code: 2,
    says: ['not-followed', FORK],
  },
  'nor where the address is given': {
    given: forkOnBranch,
    args: ['--base', 'main', '--url', FORK],
    code: 2,
    says: ['not-followed', `no source of the fleet has the address ${FORK}`],
  },
  'a feature branch with --base main stands for main': {
    given: tenantOnBranch,
    args: [...TENANT, '--base', 'main'],
    code: 1,
    says: ['namespace-confinement', as('main', '--base main')],
  },
  'and passes where it is good': {
    given: () => tenantOnBranch({ 'deploy/config.yaml': `${configMap('apps')}data: { a: b }\n` }),
    args: [...TENANT, '--base', 'main'],
    code: 0,
    says: [as('main', '--base main')],
  },
  'origin/main names main': {
    given: () => {
      const tenant = tenantOnBranch()
      tracked(tenant, 'main')
      return tenant
    },
    args: [...TENANT, '--base', 'origin/main'],
    code: 1,
    says: [as('main', '--base origin/main')],
  },
  'a name that only the remote has is that one': {
    given: () => {
      const tenant = tenantOnBranch()
      tracked(tenant, 'main')
      git(tenant, 'branch', '--quiet', '-D', 'main')
      return tenant
    },
    args: [...TENANT, '--base', 'main'],
    code: 1,
    says: [as('main', '--base main')],
  },
  'a local branch of another name stands for the one that it tracks': {
    given: () => {
      const tenant = tenantOnBranch()
      tracked(tenant, 'main')
      git(tenant, 'branch', '--quiet', 'before', 'main')
      git(tenant, 'config', 'branch.before.remote', 'origin')
      git(tenant, 'config', 'branch.before.merge', 'refs/heads/main')
      return tenant
    },
    args: [...TENANT, '--base', 'before'],
    code: 1,
    says: [as('main', '--base before')],
  },
  'a commit of the base names no branch: the default one counts': {
    given: tenantOnBranch,
    args: [...TENANT, '--base', 'HEAD~1'],
    code: 1,
    says: [as('main', 'the default branch')],
  },
  'in GitHub Actions: what the pull request is to be merged into': {
    given: () => detached(tenantOnBranch()),
    args: [...TENANT, '--base', 'HEAD~1'],
    env: { GITHUB_BASE_REF: 'main' },
    code: 1,
    says: [as('main', 'GITHUB_BASE_REF')],
  },
  'in GitLab CI too': {
    given: () => detached(tenantOnBranch()),
    args: [...TENANT, '--base', 'HEAD~1'],
    env: { GITHUB_BASE_REF: '', CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' },
    code: 1,
    says: [as('main', 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME')],
  },
  'a target that no source follows is no pass': {
    given: () => detached(tenantOnBranch()),
    args: [...TENANT, '--base', 'HEAD~1'],
    env: { GITHUB_BASE_REF: 'release' },
    code: 2,
    says: [
      /^error\[not-followed\]: no source follows branch release \(GITHUB_BASE_REF\) of [\s\S]*main \(GitRepository/m,
    ],
  },
  'a detached head stands for the default branch': {
    given: () => {
      const tenant = tenantOnBranch()
      tracked(tenant, 'main')
      git(tenant, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main')
      return detached(tenant)
    },
    args: TENANT,
    code: 1,
    says: [as('main', 'the default branch')],
  },
  'a feature branch without --base is nothing that a source follows': {
    given: tenantOnBranch,
    args: TENANT,
    code: 2,
    says: [
      /^error\[not-followed\]: no source follows branch feature\/x \(checked out\) .*\n {2}fix {6}Sources follow: main .*Add --branch main or --base main\.$/m,
      /^error: /m,
    ],
  },
  '--branch overrides': {
    given: tenantOnBranch,
    args: [...TENANT, '--base', 'HEAD~1', '--branch', 'main'],
    code: 1,
    says: [as('main', '--branch')],
  },
  'a branch that no source follows': {
    given: tenantOnBranch,
    args: [...TENANT, '--base', 'main', '--branch', 'mian'],
    code: 2,
    says: ['error[not-followed]: no source follows branch mian (--branch)', 'Add --branch main.'],
  },
  'a repository that is the source of nothing': {
    given: tenantOnBranch,
    args: [...TENANT, '--base', 'main', '--url', 'https://github.com/acme/dev-taem'],
    code: 2,
    says: [
      `no source of the fleet has the address https://github.com/acme/dev-taem`,
      `Sources name: ${DEV}#main, ${FLEET}#main.`,
    ],
  },
  'the fleet on a feature branch': {
    given: () => fleetOnBranch(),
    args: ['--base', 'main'],
    code: 1,
    says: ['sa-required', `evaluated as branch main of ${FLEET} (--base main)`],
  },
  'and without --base': {
    given: () => fleetOnBranch(),
    code: 2,
    says: [
      'error[not-followed]: no source follows branch feature/x (checked out)',
      'Add --branch main or --base main.',
    ],
  },
  'a fleet whose clusters follow master': {
    given: () => fleetOnBranch('branch: master', 'master'),
    args: ['--base', 'HEAD~1'],
    code: 1,
    says: ['sa-required', `evaluated as branch master of ${FLEET} (the default branch)`],
  },
  'a fleet whose source names no branch follows master': {
    given: () => fleetOnBranch('', 'master'),
    args: ['--base', 'master'],
    code: 1,
    says: ['sa-required', `evaluated as branch master of ${FLEET} (--base master)`],
  },
  'a fleet that follows its tags: the working copy is the next one': {
    given: () => fleetOnBranch('semver: ">=1.0.0"'),
    args: ['--base', 'main'],
    code: 1,
    says: ['sa-required', 'and as the next >=1.0.0'],
  },
  'a tenant whose tag is followed': {
    given: () => {
      const { tenant } = world({ tenantRef: 'tag: v1.0.0' })
      write(tenant, BAD)
      return tenant
    },
    args: [...TENANT, '--base', 'main'],
    code: 1,
    says: ['namespace-confinement', 'and as the next v1.0.0'],
  },
  'a tenant that is pinned to a commit': {
    given: () => {
      const { tenant } = world({ tenantRef: `commit: ${'a'.repeat(40)}` })
      write(tenant, BAD)
      return tenant
    },
    args: [...TENANT, '--base', 'main'],
    code: 2,
    says: [`error[not-followed]: no source follows branch main`, 'a'.repeat(40)],
  },
  'the fleet beside a tenant has a branch of its own, and the CI says nothing about it': {
    given: () => {
      const { root, fleet, tenant } = world({ ref: 'branch: trunk' })
      git(fleet, 'branch', '--quiet', '-m', 'trunk')
      write(tenant, BAD)
      return join(root, 'dev-team')
    },
    args: [...TENANT, '--base', 'HEAD'],
    env: { GITHUB_BASE_REF: 'main' },
    code: 1,
    says: ['namespace-confinement'],
  },
  'a fleet beside a tenant that stands on a feature branch': {
    given: () => {
      const { fleet, tenant } = world()
      git(fleet, 'checkout', '--quiet', '-b', 'try')
      return tenant
    },
    args: [...TENANT, '--base', 'main'],
    code: 2,
    says: [`error[not-followed]: no source follows branch try (checked out) of ${FLEET}`, 'fleet checkout main'],
  },
  'a source given for an address that none names': {
    given: () => world().fleet,
    args: ['--repo', 'https://github.com/acme/dev-taem=../dev-team'],
    code: 2,
    says: [
      'error[not-followed]: --repo https://github.com/acme/dev-taem: no source of the fleet names this address',
      DEV,
    ],
  },
  'and one that some source names': {
    given: () => world().fleet,
    args: ['--repo', 'git@github.com:acme/dev-team.git=../dev-team'],
    code: 0,
    says: [`evaluated as branch main of ${FLEET} (checked out)`],
  },
  'a base that is not there': {
    given: () => world().fleet,
    args: ['--base', 'nowhere'],
    code: 2,
    says: [
      /^error\[git-missing\]: .*: no commit "nowhere"\. Run: git fetch origin nowhere:refs\/remotes\/origin\/nowhere$/m,
    ],
  },
  'a branch and a tag of one name that differ': {
    given: () => {
      const tenant = tenantOnBranch()
      git(tenant, 'tag', 'main', 'feature/x')
      return tenant
    },
    args: [...TENANT, '--base', 'main'],
    code: 2,
    says: [
      'error[git-ambiguous]: "main": ambiguous. refs/heads/main and refs/tags/main are different commits',
      'Write refs/heads/main.',
    ],
  },
}

describe('which branch a working copy stands for', () => {
  testAll(situations)

  test('a shallow clone without the base says what to fetch', async () => {
    const { root, tenant } = world()
    write(tenant, BAD)
    git(tenant, 'commit', '--quiet', '-am', 'change')
    const before = git(tenant, 'rev-parse', 'HEAD~1').trim()
    git(root, 'clone', '--quiet', '--depth=1', `file://${tenant}`, 'clone')
    const clone = join(root, 'clone')
    const args = [...TENANT, '--url', DEV, '--base']
    const { code, stderr } = await run(clone, [...args, before])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`a shallow clone). Run: git fetch origin ${before}`)])
    expect((await run(clone, [...args, 'HEAD~1'])).stderr).toContain('git fetch --unshallow')
    git(clone, 'fetch', '--quiet', 'origin', before)
    expect((await run(clone, [...args, before])).code).toBe(1)
  })
})
