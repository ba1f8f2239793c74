import { expect, test } from 'vitest'
import { judgementOf } from '../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet, withResource } from '../../fleet/mini-fleet.ts'

const source = (ref: string) =>
  `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: x, namespace: apps}\nspec: {interval: 1m, url: "https://github.com/acme/dev-team", ref: ${ref}}\n`

function levels(cluster: string, ref: string) {
  const rename = (text: string) => text.replaceAll('clusters/staging', `clusters/${cluster}`)
  const files = Object.entries(fleetFiles).map(([path, text]) => [rename(path), rename(text)] as const)
  const given = { ...miniFleet({ dev: withResource(source(ref)) }), fleet: Object.fromEntries(files) }
  const { violations, warnings } = judgementOf(given).verdict
  return [...violations, ...warnings].flatMap(one => (one.rule === 'source-mutable-ref' ? [one.level] : []))
}

test.each(['production', 'prod-eu', 'eu.prod', 'prod1'])(
  'any newer tag on %s is a violation, a tag a warning',
  name => {
    expect(levels(name, '{semver: ">=0.0.0-0"}')).toEqual(['violation'])
    expect(levels(name, '{tag: v1}')).toEqual(['warning'])
    expect(levels(name, '{semver: 1.2.3}')).toEqual(['warning'])
  },
)

test.each(['staging', 'products', 'nonproduct'])('on %s both are warnings', name => {
  expect(levels(name, '{semver: 1.x}')).toEqual(['warning'])
})
