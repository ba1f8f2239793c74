import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { BailiwickError } from '../../../src/base/errors.ts'
import { onboardLine, parseOnboardCommand } from '../../../src/tenants/onboard/parse-command.ts'
import { TENANT_ACCESS, TENANT_ROLES } from '../../../src/tenants/onboard/request.ts'
import { FORM_LABELS, readTenantForm, tenantRequestForm } from '../../../src/tenants/onboard/tenant-form.ts'
import { refusalOf } from '../../repository/runner/refusal-of.ts'

const HOST = 'github.com'
const FILLED = {
  Tenant: 'ops-team',
  Repository: 'https://github.com/acme/ops-team',
  Team: 'acme/ops',
  Namespaces: 'ops, ops-jobs',
  Clusters: 'staging',
  Role: 'admin',
  Branch: '_No response_',
  Path: '_No response_',
}
/** What GitHub makes of a form. */
const issue = (changes: Record<string, string> = {}) =>
  Object.entries({ ...FILLED, ...changes })
    .map(([label, value]) => `### ${label}\n\n${value}`)
    .join('\n\n')

const refusal = (body: string) => refusalOf(() => readTenantForm(body, HOST))

describe('the form', () => {
  interface Form {
    readonly name: string
    readonly description: string
    readonly labels: readonly string[]
    readonly body: readonly {
      readonly type: string
      readonly attributes: { readonly label?: string; readonly options?: unknown }
    }[]
  }

  test('has the fields that are read, in GitHub’s own syntax', () => {
    const form = parse(tenantRequestForm(['staging', 'x: [', 'edge.eu'])) as Form
    expect(form).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      labels: ['tenant-request'],
    })
    const labels = form.body.flatMap(({ attributes }) => attributes.label ?? [])
    expect(labels.sort()).toEqual(Object.values(FORM_LABELS).sort())
    const options = form.body.filter(({ type }) => type === 'dropdown').map(({ attributes }) => attributes.options)
    expect(options).toEqual([[...TENANT_ROLES], ['none', ...TENANT_ACCESS]])
    expect(tenantRequestForm(['x: ['])).toContain("'staging, production'")
  })
})

describe('what is understood', () => {
  test('a form that was filled in', () => {
    expect(readTenantForm(issue(), HOST)).toEqual({
      request: {
        team: 'acme/ops',
        tenant: 'ops-team',
        url: 'https://github.com/acme/ops-team',
        namespaces: ['ops', 'ops-jobs'],
        clusters: ['staging'],
        branch: 'main',
        role: 'admin',
      },
      team: 'acme/ops',
    })
  })

  test('line breaks of browsers, lists by line, short names of repositories, sections of others', () => {
    const body = issue({ Repository: 'acme/ops-team', Clusters: 'staging\nproduction', 'Cost centre': '12' })
    const { request } = readTenantForm(body.replaceAll('\n', '\r\n'), 'git.acme.example')!
    expect(request).toMatchObject({
      url: 'https://git.acme.example/acme/ops-team',
      clusters: ['staging', 'production'],
    })
  })

  test('what is no form is none', () => {
    for (const body of ['', 'Please add us', `Hello\n\n${issue()}`, '### Repository\n\nx', '#### Tenant\n\nx']) {
      expect(readTenantForm(body, HOST)).toBeUndefined()
    }
  })

  test('the line to copy asks for the same', () => {
    for (const changes of [{}, { Branch: 'release/1', Path: './x', Role: 'edit' }, { Role: '_No response_' }]) {
      const { request } = readTenantForm(issue(changes), HOST)!
      expect(parseOnboardCommand(onboardLine(request))).toEqual(request)
    }
  })
})

describe('what is refused', () => {
  test.each([
    [{ Tenant: '../../clusters/x' }, 'is not a valid name'],
    [{ Tenant: 'flux-system' }, 'is reserved'],
    [{ Tenant: 'a b' }, 'is not a valid name'],
    [{ Tenant: '--role' }, '--role'],
    [{ Tenant: '_No response_' }, 'name of the tenant is missing'],
    [{ Tenant: 'a\nb' }, 'more than one line'],
    [{ Repository: 'file:///etc/passwd' }, 'is not an allowed address'],
    [{ Repository: 'https://github.com/acme/a --namespace kube-system' }, 'is not an allowed address'],
    [{ Namespaces: 'kube-system' }, 'is reserved'],
    [{ Namespaces: '--cluster' }, 'has no value'],
    [{ Clusters: '_No response_' }, 'missing'],
    [{ Role: 'system:masters' }, 'is not an allowed role'],
    [{ Path: '../x' }, 'is not an allowed directory'],
    [{ Branch: '$(id)' }, 'is not an allowed branch name'],
    [{ Team: 'a\n\n### Tenant\n\nother' }, 'appears twice'],
    [{ Team: 'x'.repeat(30_000) }, 'characters'],
  ])('%j', (changes, said) => {
    const { code, message, fix } = refusal(issue(changes as Record<string, string>))
    expect({ code, message }).toEqual({ code: 'onboard-input', message: expect.stringContaining(said) })
    expect(fix).toBeTruthy()
  })

  test('whatever stands below the headings, only checked values come out', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('ops', '--repo', '### Tenant', 'https://github.com/a/b', 'a,b', './x', '`', '\n'),
    )
    const fields = fc.dictionary(fc.constantFrom(...Object.values(FORM_LABELS)), value)
    fc.assert(
      fc.property(fields, changes => {
        try {
          const form = readTenantForm(issue(changes), HOST)
          if (!form) return
          expect(onboardLine(form.request)).toMatch(
            /^\/bailiwick onboard [a-z0-9-]+ --repo [\w@.:/~-]+( --[a-z]+ [\w./-]+)+$/,
          )
        } catch (error) {
          expect(error).toBeInstanceOf(BailiwickError)
        }
      }),
      { numRuns: 1500 },
    )
  })
})

test('the field Access is the option, and Team is one where CODEOWNERS could name it', () => {
  const read = (changes: Record<string, string>) => readTenantForm(issue(changes), HOST)!.request
  expect(read({ Access: 'deploy-key' })).toMatchObject({ access: 'deploy-key', team: 'acme/ops' })
  expect(read({ Access: 'none', Team: 'The ops people' })).not.toHaveProperty('access')
  expect(read({ Team: 'ada @evil' })).not.toHaveProperty('team')
  expect(refusal(issue({ Access: 'root' })).message).toContain('--access "root" is not allowed')
})
