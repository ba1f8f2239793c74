import { describe, expect, test } from 'vitest'
import { parseClusters, readClustersFile } from '../../src/cluster/clusters-file.ts'

const FILE = '/etc/bailiwick/clusters.yaml'

describe('clusters.yaml', () => {
  test('what is left out has its default', () => {
    const text = 'clusters:\n  - name: staging\n    fleet: git@github.com:Acme/Fleet.git\n'
    expect(parseClusters(text, FILE)).toEqual([
      {
        name: 'staging',
        fleet: 'https://github.com/acme/fleet',
        branch: 'main',
        path: 'clusters/staging',
        mode: 'gate',
        namespace: 'bailiwick-system',
      },
    ])
  })

  test('everything may be said; a kubeconfig is found from the file', () => {
    const text = `clusters:
  - name: production
    fleet: https://git.example/acme/fleet
    branch: release
    path: ./clusters/production/
    kubeconfig: prod.kubeconfig
    context: admin
    mode: reconcile
    namespace: gate
    resync: 60
    events: http://notification-controller.flux-system.svc.cluster.local./
`
    expect(parseClusters(text, FILE)).toEqual([
      {
        name: 'production',
        fleet: 'https://git.example/acme/fleet',
        branch: 'release',
        path: 'clusters/production',
        kubeconfig: '/etc/bailiwick/prod.kubeconfig',
        context: 'admin',
        mode: 'reconcile',
        namespace: 'gate',
        resyncSeconds: 60,
        events: 'http://notification-controller.flux-system.svc.cluster.local./',
      },
    ])
  })

  const remotes = (entries: string) =>
    parseClusters(
      `clusters:\n  - name: staging\n    fleet: https://github.com/acme/fleet\n    kubeConfigs: ${entries}\n`,
      FILE,
    )
  test('where kubeConfigs may lead is one spelling of an address, and a cluster that is evaluated there', () => {
    const entries = `[
      {server: "https://Capsule-Proxy.capsule-system.svc:9001/", cluster: staging, ca: proxy.crt},
      {server: "https://rancher.example:443/k8s/clusters/c-1", cluster: "staging -> kubeconfig flux-system/edge/kubeconfig", ca: /etc/edge.crt, serverName: edge.internal}]`
    expect(remotes(entries)[0]!.kubeConfigs).toEqual([
      { server: 'https://capsule-proxy.capsule-system.svc:9001', cluster: 'staging', ca: '/etc/bailiwick/proxy.crt' },
      {
        server: 'https://rancher.example/k8s/clusters/c-1',
        cluster: 'staging -> kubeconfig flux-system/edge/kubeconfig',
        ca: '/etc/edge.crt',
        serverName: 'edge.internal',
      },
    ])
  })

  test.each([
    ['{}', { lifetimeSeconds: 86_400, audiences: [] }],
    ['{lifetime: 3600, audiences: [capsule]}', { lifetimeSeconds: 3600, audiences: ['capsule'] }],
  ])('the worker makes kubeconfigs for a server with tokens: %s', (text, expected) => {
    const entry = `[{server: "https://a", cluster: staging, ca: x, tokens: ${text}}]`
    expect(remotes(entry)[0]!.kubeConfigs![0]!.tokens).toEqual(expected)
  })

  test.each([
    ['tokens that are no map', '[{server: "https://a", cluster: staging, ca: x, tokens: true}]', 'tokens is not a map'],
    [
      'tokens of another cluster',
      '[{server: "https://a", cluster: "staging -> kubeconfig a/b", ca: x, tokens: {}}]',
      'Allowed: a server of staging itself',
    ],
    [
      'two servers with tokens',
      '[{server: "https://a", cluster: staging, ca: x, tokens: {}}, {server: "https://b", cluster: staging, ca: x, tokens: {}}]',
      'kubeConfigs[1].tokens is set for a second server',
    ],
    [
      'a short life',
      '[{server: "https://a", cluster: staging, ca: x, tokens: {lifetime: 1799}}]',
      'tokens.lifetime 1799 is not a whole number of seconds from 1800 to 604800',
    ],
    ['a life without end', '[{server: "https://a", cluster: staging, ca: x, tokens: {lifetime: 604801}}]', 'lifetime'],
    [
      'an audience with a space',
      '[{server: "https://a", cluster: staging, ca: x, tokens: {audiences: ["a b"]}}]',
      'tokens.audiences is not a list',
    ],
    ['an unknown key', '[{server: "https://a", cluster: staging, ca: x, tokens: {expires: 1}}]', 'unknown key'],
    ['no list', '{}', 'kubeConfigs is not a list'],
    ['plain http', '[{server: "http://a", cluster: staging, ca: x}]', 'server is not an https address'],
    ['a user', '[{server: "https://a:b@c", cluster: staging, ca: x}]', 'server is not an https address'],
    ['any host', '[{server: "https://*", cluster: staging}]', 'ca is missing'],
    ['no certificates', '[{server: "https://a", cluster: staging}]', 'ca is missing'],
    ['no cluster', '[{server: "https://a", ca: x}]', 'cluster is missing'],
    ['another cluster', '[{server: "https://a", cluster: production, ca: x}]', 'is not evaluated as part of staging'],
    [
      'what is behind another cluster',
      '[{server: "https://a", cluster: "production -> kubeconfig flux-system/x", ca: x}]',
      'is not evaluated as part of staging',
    ],
    [
      'one whose name begins alike',
      '[{server: "https://a", cluster: "staging-2 -> kubeconfig flux-system/x", ca: x}]',
      'is not evaluated as part of staging',
    ],
    [
      'a server that is this cluster and another one',
      '[{server: "https://a", cluster: staging, ca: x}, {server: "https://A/", cluster: "staging -> kubeconfig a/b", ca: x}]',
      'https://a is listed twice',
    ],
    ['no check', '[{server: "https://a", cluster: staging, ca: x, insecure: true}]', 'insecure is an unknown key'],
    [
      'a name that is none',
      '[{server: "https://a", cluster: staging, ca: x, serverName: "a b"}]',
      'is not a host name',
    ],
  ])('kubeConfigs with %s are refused', (_, entries, expected) => {
    expect(() => remotes(entries)).toThrow(expected)
  })

  const kms = (entries: string) =>
    parseClusters(
      `clusters:\n  - name: staging\n    fleet: https://github.com/acme/fleet\n    kmsKeys: ${entries}\n`,
      FILE,
    )
  const ARN = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
  const GCP = 'projects/acme/locations/global/keyRings/sops/cryptoKeys/apps'
  const TENANT = '11111111-2222-3333-4444-555555555555'

  test('keys of services have one exact spelling, namespaces, and credentials in files', () => {
    const entries = `[
      {provider: aws, key: "${ARN}", namespaces: [apps, web], credentialsFile: aws.ini},
      {provider: aws, key: "arn:aws-cn:kms:cn-north-1:111122223333:alias/team/a", namespaces: [apps], role: "arn:aws-cn:iam::111122223333:role/w", tokenFile: /var/token},
      {provider: gcp, key: "${GCP}", namespaces: [apps], metadataServer: true},
      {provider: vault, key: "https://vault.acme.test:8200/v1/team/sops/keys/apps", namespaces: [apps], tokenFile: vault},
      {provider: azure, key: "https://acme.vault.azure.net/keys/apps", namespaces: [apps], tenantId: ${TENANT}, clientId: ${TENANT}, federatedTokenFile: az}]`
    expect(kms(entries)[0]!.kmsKeys).toMatchObject([
      {
        service: 'aws',
        key: ARN,
        namespaces: ['apps', 'web'],
        credentials: { type: 'file', file: '/etc/bailiwick/aws.ini' },
      },
      { service: 'aws', credentials: { type: 'web-identity', tokenFile: '/var/token' } },
      { service: 'gcp', credentials: { type: 'metadata' } },
      { service: 'vault', credentials: { type: 'file', file: '/etc/bailiwick/vault' } },
      {
        service: 'azure',
        credentials: {
          type: 'azure',
          tenantId: TENANT,
          clientId: TENANT,
          federatedTokenFile: '/etc/bailiwick/az',
        },
      },
    ])
  })

  const aws = (more: string, key = ARN) => `[{provider: aws, key: "${key}", ${more}}]`
  const FULL = 'namespaces: [apps], credentialsFile: a'
  test.each([
    ['no list', '{}', 'kmsKeys is not a list'],
    ['another provider', '[{provider: age, key: a}]', 'age is not one of aws, gcp, vault, azure'],
    ['no namespaces', aws('credentialsFile: a'), 'namespaces is not a list of names'],
    ['every namespace', aws('namespaces: ["*"], credentialsFile: a'), 'namespaces is not a list of names'],
    ['an empty list', aws('namespaces: [], credentialsFile: a'), 'namespaces is not a list of names'],
    ['no credentials', aws('namespaces: [apps]'), 'needs exactly one of credentialsFile and tokenFile'],
    ['two credentials', aws(`${FULL}, tokenFile: b, role: c`), 'needs exactly one of'],
    ['a role without its token', aws(`${FULL}, role: "arn:aws:iam::111122223333:role/a"`), '`role` and `tokenFile`'],
    ['a secret in clear', aws(`${FULL}, secretAccessKey: b`), 'secretAccessKey is an unknown key'],
    ['an endpoint', aws(`${FULL}, endpoint: "https://a"`), 'endpoint is an unknown key'],
    ['any key', aws(FULL, ARN.replace(/key.*/, '*')), 'is not one exact key'],
    ['a role behind the key', aws(FULL, `${ARN}+arn:aws:iam::1:role/a`), 'is not one exact key'],
    ['a host in the region', aws(FULL, ARN.replace('eu-west-1', 'evil.example/')), 'is not one exact key'],
    ['a region of another partition', aws(FULL, ARN.replace('aws:', 'aws-cn:')), 'is not one exact key'],
    ['another service', aws(FULL, ARN.replace('kms', 's3')), 'is not one exact key'],
    ['a folder that leads out', `[{provider: gcp, key: "${GCP}/../x", ${FULL}}]`, 'is not one exact key'],
    [
      'Vault without TLS',
      '[{provider: vault, key: "http://v/v1/sops/keys/a", namespaces: [a], tokenFile: b}]',
      'is not one exact key',
    ],
    [
      'Vault with a user',
      '[{provider: vault, key: "https://a@v/v1/sops/keys/a", namespaces: [a], tokenFile: b}]',
      'is not one exact key',
    ],
    [
      'a path of Vault that leads out',
      '[{provider: vault, key: "https://v/v1/sops/../keys/a", namespaces: [a], tokenFile: b}]',
      'is not one exact key',
    ],
    [
      'a host that only begins as Azure',
      '[{provider: azure, key: "https://acme.vault.azure.net.evil.example/keys/a", namespaces: [a]}]',
      'is not one exact key',
    ],
    [
      'a tenant that is a path',
      '[{provider: azure, key: "https://acme.vault.azure.net/keys/a", namespaces: [a], tenantId: "../a", clientId: a, clientSecretFile: b}]',
      'tenantId is not the id of a tenant',
    ],
    ['one key twice', `[${aws(FULL).slice(1, -1)}, ${aws(FULL).slice(1, -1)}]`, 'is listed twice'],
  ])('kmsKeys with %s are refused', (_, entries, expected) => {
    expect(() => kms(entries)).toThrow(expected)
  })

  const one = (line: string) => `clusters:\n  - name: staging\n    fleet: https://github.com/acme/fleet\n    ${line}\n`
  test.each([
    ['an unknown key', one('modes: gate'), 'clusters[0].modes is an unknown key'],
    ['an unknown key at the top', 'cluster: []\n', 'cluster is an unknown key'],
    ['a bare list', '- name: staging\n', 'the file is not a map'],
    ['an empty file', '', 'the file is not a map'],
    ['no list', 'clusters: {}\n', 'clusters is not a list'],
    ['an entry that is a text', 'clusters: [staging]\n', 'clusters[0] is not a map'],
    ['no name', 'clusters:\n  - fleet: https://github.com/a/b\n', 'clusters[0].name is missing'],
    ['no fleet', 'clusters:\n  - name: staging\n', 'clusters[0].fleet is missing'],
    [
      'a name that is a path',
      one('name2: x')
        .replace('staging', '../prod')
        .replace(/ {4}name2.*\n/, ''),
      '../prod is not',
    ],
    [
      'a fleet that is no address',
      one('branch: main').replace('https://github.com/acme/fleet', 'fleet'),
      'fleet is not the',
    ],
    ['a path that leaves the repository', one('path: clusters/../../x'), 'clusters[0].path'],
    [
      'a path with an empty part',
      one('path: kubernetes//apps'),
      'kubernetes//apps is not a folder inside the repository',
    ],
    ['an absolute path', one('path: /clusters'), 'clusters[0].path'],
    ['a mode that is none', one('mode: apply'), 'apply is neither gate nor reconcile'],
    ['a number for a text', one('branch: 1'), 'clusters[0].branch is not a string'],
    ['null for a text', one('context:'), 'clusters[0].context'],
    ['a path above the repository', one('path: ..'), 'clusters[0].path .. is not a folder'],
    ['the root of the machine', one('path: /'), 'clusters[0].path / is not a folder'],
    ['a switch by a word', one('reportDrift: yes please'), 'clusters[0].reportDrift yes please is neither'],
    ['a resync that is too often', one('resync: 1'), 'clusters[0].resync 1 is not a whole number'],
    [
      'events to a file',
      one('events: file:///tmp/x'),
      'clusters[0].events file:///tmp/x is not an http or https address',
    ],
    ['events with a password', one('events: http://a:b@host/'), 'clusters[0].events'],
    ['a namespace that is none', one('namespace: A_B'), 'clusters[0].namespace A_B'],
    ['a key twice', one('branch: a\n    branch: b'), 'Map keys must be unique'],
    ['text that is no YAML', 'clusters: [', FILE],
    [
      'a cluster twice',
      `${one('mode: gate')}${one('mode: gate').replace('clusters:\n', '')}`,
      'staging is bound twice',
    ],
    ['a key of the prototype', one('__proto__: {mode: reconcile}'), '__proto__ is an unknown key'],
  ])('%s is refused with file and key', (_what, text, message) => {
    const parse = () => parseClusters(text, FILE)
    expect(parse).toThrow(expect.objectContaining({ code: 'config', message: expect.stringContaining(message) }))
    expect(parse).toThrow(FILE)
  })

  test.each([
    ['kubernetes/apps', 'kubernetes/apps'],
    ['./kubernetes/apps/', 'kubernetes/apps'],
    ['clusters/eu/staging', 'clusters/eu/staging'],
    ['clusters/prod', 'clusters/prod'],
    ['./', ''],
    ['.', ''],
  ])('any folder of the fleet can be bound: %s', (path, bound) => {
    expect(parseClusters(one(`path: ${path}`), FILE)).toMatchObject([{ name: 'staging', path: bound }])
  })

  test('a setting that was removed is one warning that says what to do instead, whatever its value', () => {
    const warnings: string[] = []
    const text =
      one('commitStatuses: true') + one('commitStatuses: x').replace('clusters:\n', '').replace('staging', 'other')
    expect(parseClusters(text, FILE, one => warnings.push(one)).map(({ name }) => name)).toEqual(['staging', 'other'])
    expect(warnings).toEqual([expect.stringMatching(/^\S+: commitStatuses of clusters\.yaml: removed\. .*Provider/)])
  })

  test('a file that is not there', () => {
    expect(() => readClustersFile('/nonexistent/clusters.yaml')).toThrow(
      expect.objectContaining({ code: 'config', fix: expect.stringContaining('CLUSTERS_FILE') }),
    )
  })
})
