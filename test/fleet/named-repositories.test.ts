import { expect, test } from 'vitest'
import { mayLeadTo, namedRepositories } from '../../src/fleet/model/source-access.ts'

/** As a manifest writes it. */
const variable = (text: string) => ['$', '{', text, '}'].join('')

test('finds addresses in every spelling, normalised', () => {
  const text = `url: https://github.com/Acme/Dev-Team.git
    url: "ssh://git@github.com/acme/ops-team"
    # git@github.com:acme/web.git, and nothing else@all
    image: ghcr.io/acme/web:1.0`
  expect(namedRepositories([text])).toEqual([
    'https://github.com/acme/dev-team',
    'https://github.com/acme/ops-team',
    'https://github.com/acme/web',
  ])
})

test.each([
  [`https://github.com/${variable('ORG')}/dev-team`, 'https://github.com/acme/dev-team', true],
  [`https://github.com/${variable('ORG')}/dev-team`, 'https://github.com/acme/dev-team-2', false],
  [`https://github.com/acme/${variable('TEAM:=dev')}-team`, 'https://github.com/acme/ops-team', true],
  ['https://github.com/acme/dev-team', 'https://github.com/acme/dev-team', true],
  ['https://github.com/acme/dev-team', 'https://github.com/acme/dev', false],
  ['https://github.com/acme/dev', 'https://github.com/acme/dev-team', false],
])('%s may be %s: %j', (written, url, expected) => {
  const [name] = namedRepositories([written])
  expect(mayLeadTo([name!], url)).toBe(expected)
})
