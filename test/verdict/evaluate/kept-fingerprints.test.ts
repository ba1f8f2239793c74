import { expect, test } from 'vitest'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { fleetOf } from '../../fleet/fleet-of.ts'
import { miniFleet } from '../../fleet/mini-fleet.ts'

/** Content of a tenant that the renderer refuses by a rule, and the fingerprint by which baselines and waivers list it. */
const REFUSED: Readonly<Record<string, readonly [string, Readonly<Record<string, string>>]>> = {
  'kustomize-remote-base': [
    'aaecda9ba28da2730a03730b69b419e8',
    { 'deploy/kustomization.yaml': 'resources: ["https://example.com/x.yaml"]\n' },
  ],
  'kustomize-path-escape': [
    'ff73664a1a7d246c68a17ab3859c34f1',
    { 'deploy/kustomization.yaml': 'resources: [../../x.yaml]\n' },
  ],
  'kustomize-helm-inflate': [
    '6243ce74983d74684c8f7001755c91b1',
    { 'deploy/kustomization.yaml': 'helmCharts: [{name: x}]\n' },
  ],
  'kustomize-plugin': [
    '4d36732476097e51a312d63c5b9e8b23',
    {
      'deploy/kustomization.yaml': 'generators: [cm.yaml]\n',
      'deploy/cm.yaml': 'apiVersion: x/v1\nkind: Y\nmetadata: {name: y}\n',
    },
  ],
  'kustomize-case-variant-key': [
    '0151b5fce5755dca16311d97dbccee81',
    { 'deploy/kustomization.yaml': 'Namespace: apps\n' },
  ],
  'yaml-ambiguous': [
    '1043a45a1ff423ff64d3c3ce4e0d8201',
    { 'deploy/kustomization.yaml': 'resources: [cm.yaml]\n', 'deploy/cm.yaml': 'apiVersion: v1\nkind: !x ConfigMap\n' },
  ],
  'git-lfs-pointer': [
    '425b53dd55decabf64258702724536af',
    {
      'deploy/kustomization.yaml': 'resources: [cm.yaml]\n',
      'deploy/cm.yaml': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n',
    },
  ],
}

test.each(Object.entries(REFUSED))(
  '%s: new words for the refusal change no fingerprint',
  (rule, [fingerprint, dev]) => {
    const { verdict } = evaluateFleet(fleetOf(miniFleet({ dev })), { revisionSet: 'c' })
    expect(verdict.violations.filter(one => one.rule === rule).map(one => one.fingerprint)).toContain(fingerprint)
  },
)
