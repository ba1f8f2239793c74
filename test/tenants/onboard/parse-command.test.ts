import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import {
  onboardLine,
  parseOnboardArguments,
  parseOnboardCommand,
  removedOption,
} from '../../../src/tenants/onboard/parse-command.ts'
import { refusalOf } from '../../repository/runner/refusal-of.ts'

const REST = '--repo https://github.com/acme/ops-team --namespace ops --cluster staging'
const command = (text: string) => `/bailiwick onboard ${text}`

const refusal = (text: string) => refusalOf(() => parseOnboardCommand(text))

describe('what is understood', () => {
  test('the first line of a comment', () => {
    expect(parseOnboardCommand(`${command(`ops-team ${REST}`)}\r\nthank you`)).toEqual({
      tenant: 'ops-team',
      url: 'https://github.com/acme/ops-team',
      namespaces: ['ops'],
      clusters: ['staging'],
      branch: 'main',
    })
  })

  test('options in any order, with "=", repeated where several make sense', () => {
    const text = command(
      '--cluster=staging --path=deploy/apps/ --namespace ops ops-team --cluster production --namespace ops-jobs --branch release/1.0 --repo=ssh://git@git.example.com/acme/ops.git',
    )
    expect(parseOnboardCommand(text)).toEqual({
      tenant: 'ops-team',
      url: 'ssh://git@git.example.com/acme/ops.git',
      namespaces: ['ops', 'ops-jobs'],
      clusters: ['staging', 'production'],
      branch: 'release/1.0',
      path: './deploy/apps',
    })
  })

  test('what people copy asks for the same', () => {
    const text = command(
      `ops-team ${REST} --semver >=1.0.0,<2.0.0 --interval 90m --prune false --wait true --timeout 30s --service-account flux --access deploy-key --role edit`,
    )
    const request = parseOnboardCommand(text)!
    expect(request).toMatchObject({ interval: '1h30m0s', timeout: '30s', prune: false, ref: { field: 'semver' } })
    expect(parseOnboardCommand(onboardLine(request))).toEqual(request)
  })

  test('a comment without the command at its very beginning is none', () => {
    const text = command(`ops-team ${REST}`)
    for (const comment of [
      '',
      'hello',
      `> ${text}`,
      ` ${text}`,
      `\n${text}`,
      `please ${text}`,
      text.replace('/', ''),
    ]) {
      expect(parseOnboardCommand(comment)).toBeUndefined()
    }
    expect(parseOnboardCommand('/bailiwicked onboard')).toBeUndefined()
  })
})

describe('what is refused, saying what is allowed', () => {
  const cases: Record<string, string> = {
    'no name': command(REST),
    'two names': command(`a b ${REST}`),
    'a path as name': command(`../../clusters/x ${REST}`),
    'a name with capitals': command(`Ops ${REST}`),
    'a name of 64 characters': command(`${'a'.repeat(64)} ${REST}`),
    'a name that ends with a dash': command(`ops- ${REST}`),
    'a name with a dot': command(`ops.team ${REST}`),
    'a full-width name': command(`ｏｐｓ ${REST}`),
    'a reserved name': command(`flux-system ${REST}`),
    'kube-*': command(`kube-public ${REST}`),
    'a reserved namespace': command(`ops ${REST} --namespace kube-system`),
    'namespace default': command(`ops ${REST} --namespace default`),
    'account default': command(`ops ${REST} --service-account default`),
    'our own namespace': command(`ops ${REST} --namespace bailiwick-system`),
    'namespaces with a comma': command(`ops ${REST} --namespace a,b`),
    'an unknown option': command(`ops ${REST} --power admin`),
    'a role that nobody gives': command(`ops ${REST} --role system:masters`),
    'a single dash': command(`ops ${REST} -n x`),
    'an option without value': command(`ops ${REST} --branch`),
    'an option instead of a value': command('ops --repo --namespace ops --cluster staging'),
    'an empty value': command(`ops ${REST} --branch=`),
    'repo twice': command(`ops ${REST} --repo https://github.com/acme/b`),
    'no repo': command('ops --namespace ops --cluster staging'),
    'no namespace': command('ops --repo https://github.com/a/b --cluster staging'),
    'no cluster': command('ops --repo https://github.com/a/b --namespace ops'),
    'another command': '/bailiwick approve x',
    'no command': '/bailiwick',
    'a very long line': command(`ops ${REST} ${'x'.repeat(3000)}`),
    'a path that leaves': command(`ops ${REST} --path ../x`),
    'a path that leaves later': command(`ops ${REST} --path ./a/../../x`),
    'an absolute path': command(`ops ${REST} --path /etc`),
    'a branch that is an option': command(`ops ${REST} --branch=--upload-pack=x`),
    'a branch with dots': command(`ops ${REST} --branch a..b`),
    'a full ref': command(`ops ${REST} --branch refs/heads/main`),
    'a commit': command(`ops ${REST} --branch ${'a'.repeat(40)}`),
    'a branch and a tag': command(`ops ${REST} --branch main --tag v1`),
    'a tag and a range': command(`ops ${REST} --tag v1 --semver 1.x`),
    'a tag with a slash': command(`ops ${REST} --tag a/b`),
    'a tag that is an option': command(`ops ${REST} --tag=--x`),
    'a range with a variable': command(`ops ${REST} --semver \${x}`),
    'half a commit': command(`ops ${REST} --commit ${'a'.repeat(39)}`),
    'a digest of git': command(`ops ${REST} --digest sha256:${'a'.repeat(64)}`),
    'an interval without unit': command(`ops ${REST} --interval 5`),
    'an interval of nothing': command(`ops ${REST} --interval 0s`),
    'a timeout in words': command(`ops ${REST} --timeout soon`),
    'a switch in words': command(`ops ${REST} --prune yes`),
    'an account with a colon': command(`ops ${REST} --service-account system:x`),
    'unknown credentials': command(`ops ${REST} --access password`),
    'an artifact without a reference': command('ops --repo oci://ghcr.io/a/b --namespace ops --cluster staging'),
    'an artifact with a branch': command('ops --repo oci://ghcr.io/a/b --branch x --namespace ops --cluster staging'),
    'an artifact with a commit': command(
      `ops --repo oci://ghcr.io/a/b --commit ${'a'.repeat(40)} --namespace ops --cluster staging`,
    ),
    'an artifact with a deploy key': command(
      'ops --repo oci://ghcr.io/a/b --tag v1 --access deploy-key --namespace ops --cluster staging',
    ),
    'a token over SSH': command('ops --repo ssh://git@github.com/a/b --access token --namespace ops --cluster staging'),
  }
  for (const [name, text] of Object.entries(cases)) {
    test(name, () => {
      const error = refusal(text)
      expect(error.code).toBe('onboard-input')
      expect(error.fix).toBeTruthy()
      expect(error.message.length).toBeLessThan(300)
    })
  }

  test('addresses that readers understand differently', () => {
    for (const url of [
      'http://github.com/acme/a',
      'git@github.com:acme/a',
      'git://github.com/acme/a',
      'file:///etc/passwd',
      'https://github.com',
      'https://github.com/acme',
      'https://github.com@evil.example/acme/a',
      'https://user:pw@github.com/acme/a',
      'https://git@github.com/acme/a',
      'ssh://root@github.com/acme/a',
      'https://github.com%2Facme@evil.example/a/b',
      'https://github.com/acme/../evil/a',
      'https://github.com/acme/./a',
      'https://github.com/acme/%2e%2e/a',
      'https://github.com/acme//a',
      'https://github.com/acme\\..\\a',
      'https://github.com/acme/a?x=1',
      'https://github.com/acme/a#main',
      'https://127.0.0.1/acme/a',
      'https://[::1]/acme/a',
      'https://localhost/acme/a',
      'https://gıthub.com/acme/a',
      `https://github.com/acme/${'a'.repeat(600)}`,
    ]) {
      const error = refusal(command(`ops --namespace ops --cluster staging --repo ${url}`))
      expect([url, error.code]).toEqual([url, 'onboard-input'])
    }
  })
})

test('whatever comes, a request holds only checked values', () => {
  const word = fc.oneof(
    fc.constantFrom(
      '--repo',
      '--namespace',
      '--cluster',
      '--branch',
      '--path',
      'ops',
      'https://github.com/a/b',
      './x',
      '--repo=x',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ unit: fc.constantFrom('a', '.', '/', '-', '\n', '"', '{', ':', '0'), maxLength: 8 }),
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), args => {
      try {
        const { tenant, namespaces, clusters, url, branch, path } = parseOnboardArguments(args)
        for (const name of [tenant, ...namespaces, ...clusters])
          expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
        expect(url).toMatch(/^(https|ssh):\/\/[A-Za-z0-9@.:/_~-]+$/)
        expect(branch).toMatch(/^[\w./-]+$/)
        expect(path ?? './').toMatch(/^\.\/[\w./-]*$/)
      } catch (error) {
        expect(error).toBeInstanceOf(BailiwickError)
        expect((error as BailiwickError).code).toBe('onboard-input')
      }
    }),
    { numRuns: 3000 },
  )
})

test('an option that was removed is one warning, and its value is ignored', () => {
  const words = ['web', '--repo', 'https://github.com/acme/web', '--namespace', 'web', '--cluster', 'staging']
  for (const more of [['--starter', 'pull-request'], ['--starter=x']]) {
    expect(parseOnboardArguments([...words, ...more])).toEqual(parseOnboardArguments(words))
    expect(removedOption([...words, ...more].join(' '))).toMatch(/^--starter: removed\. /)
  }
  expect(removedOption('onboard web --repo https://github.com/acme/--starter')).toBeUndefined()
})
