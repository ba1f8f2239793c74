import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normaliseUrl, readAddress } from '../../../src/kube/source-address.ts'

const APP = 'https://github.com/acme/dev-team'

describe('every spelling that leads to a repository of GitHub is that repository', () => {
  test.each([
    'https://github.com/acme/dev-team',
    'https://github.com/acme/dev-team.git',
    'https://github.com/acme/dev-team.GIT',
    'https://github.com/acme/dev-team/',
    'https://github.com/acme/dev-team.git/',
    'https://GitHub.COM/Acme/Dev-Team',
    'HTTPS://github.com/acme/dev-team',
    'http://github.com/acme/dev-team',
    'http://github.com:80/acme/dev-team',
    'https://github.com:443/acme/dev-team',
    'https://github.com:0443/acme/dev-team',
    'https://github.com./acme/dev-team',
    'https://www.github.com/acme/dev-team',
    'https://www.github.com./Acme/dev-team.git',
    'https://redirect.github.com/acme/dev-team',
    'https://ｇithub.com/acme/dev-team',
    'https://git%68ub.com/acme/dev-team',
    'https://me@github.com/acme/dev-team',
    'https://me:secret@github.com/acme/dev-team',
    'https://evil.example@github.com/acme/dev-team',
    'https://github.com/acme/%64ev-team',
    'https://github.com/acme/dev%2Dteam',
    'https://github.com/acme/dev%2dteam%2egit',
    'https://github.com/acme%2Fdev-team',
    'https://github.com/acme%2fdev-team',
    'https://github.com//acme//dev-team',
    'https://github.com/./acme/./dev-team',
    'https://github.com/evil/../acme/dev-team',
    'https://github.com/evil/%2e%2e/acme/dev-team',
    'https://github.com/evil/%2E./acme/dev-team',
    'https://github.com\\acme\\dev-team',
    'https://github.com/acme%5Cdev-team',
    'https://github.com/acme/dev-team?x=1',
    'https://github.com/acme/dev-team#main',
    'ssh://git@github.com/acme/dev-team',
    'ssh://github.com/acme/dev-team',
    'SSH://git@GITHUB.com/acme/dev-team',
    'ssh://git@git%68ub.com/acme/dev-team',
    'ssh://git@github.com:22/acme/dev-team.git',
    'ssh://git@github.com//acme/dev-team',
    'ssh://git@github.com:acme/dev-team',
    'ssh://git@ssh.github.com:443/acme/dev-team',
    'ssh://git@ssh.github.com/acme/dev-team',
    'ssh://git@SSH.github.com.:443/acme/dev-team',
    'git+ssh://git@github.com/acme/dev-team',
    'git://github.com/acme/dev-team',
    'git@github.com:acme/dev-team.git',
    'git@github.com:/acme/dev-team.git',
    'git@ssh.github.com:443/acme/dev-team',
    'org-123@github.com:acme/dev-team',
  ])('%s', written => {
    expect(normaliseUrl(written)).toBe(APP)
  })
})

test.each([
  ['https://github.com/acme/dev-team-2', 'https://github.com/acme/dev-team-2'],
  ['https://github.com/acme/dev-team.wiki.git', 'https://github.com/acme/dev-team.wiki'],
  ['https://github.com/acme/.github', 'https://github.com/acme/.github'],
  ['https://gist.github.com/acme/dev-team', 'https://gist.github.com/acme/dev-team'],
  ['https://github.com.evil.example/acme/dev-team', 'https://github.com.evil.example/acme/dev-team'],
  ['https://github.com@evil.example/acme/dev-team', 'https://evil.example/acme/dev-team'],
  ['https://github.com%2Facme@evil.example/dev-team', 'https://evil.example/dev-team'],
  ['https://gitlab.com/Acme/App.git', 'https://gitlab.com/Acme/App'],
  ['https://gitlab.com:8443/Acme/App', 'https://gitlab.com:8443/Acme/App'],
  ['ssh://git@gitlab.com:2222/Acme/App', 'https://gitlab.com:2222/Acme/App'],
  ['https://dev.azure.com/o/My%20P/_git/r', 'https://dev.azure.com/o/My%20P/_git/r'],
  ['https://github.com/acme/dev-team/%2e.git', 'https://github.com/acme/dev-team'],
  ['https://github.com/acme/dev-team.git/x/%2e%2e.git', 'https://github.com/acme/dev-team'],
  ['https://gitlab.com/acme/dev-team/..git', 'https://gitlab.com/acme/dev-team'],
  ['oci://ghcr.io/acme/app', 'oci://ghcr.io/acme/app'],
  ['./a/path', './a/path'],
  ['', ''],
])('%s is another one: %s', (written, text) => {
  expect(normaliseUrl(written)).toBe(text)
})

test('what the strict reader accepts is the same repository to both, and a normalised address stays as it is', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9%_~-][A-Za-z0-9%._~-]{0,10}[A-Za-z0-9]$/)
  const scheme = fc.constantFrom('https://', 'http://', 'ssh://git@', 'ssh://')
  const host = fc.constantFrom(
    'github.com',
    'GitHub.com',
    'www.github.com',
    'ssh.github.com',
    'gitlab.com',
    'ssh.github.com:443',
    'gitlab.com:22',
  )
  const end = fc.constantFrom('', '/', '.git', '.GIT', '.git/', '?q', '//')
  fc.assert(
    fc.property(scheme, host, name, name, end, (before, at, owner, repo, after) => {
      const written = `${before}${at}/${owner}/${repo}${after}`
      const once = normaliseUrl(written)
      expect(normaliseUrl(once)).toBe(once)
      const read = readAddress(written, 'url')
      if (typeof read === 'string' || read.host === 'ssh.github.com') return
      expect(normaliseUrl(read.text)).toBe(once)
    }),
    { numRuns: 5_000 },
  )
})
