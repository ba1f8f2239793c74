interface Sync {
  readonly path: string
  readonly kind?: string
  readonly url?: string
  readonly ref?: string
  readonly name?: string
  readonly more?: string
}

/** `sync` of a FluxInstance, as lines with this indentation. */
const syncOf = (
  { path, kind = 'GitRepository', url = 'https://github.com/acme/fleet', ref = 'refs/heads/main', name }: Sync,
  indent: string,
) =>
  [
    'sync:',
    `  kind: ${kind}`,
    `  url: ${url}`,
    `  ref: ${ref}`,
    `  path: ${path}`,
    ...(name ? [`  name: ${name}`] : []),
  ]
    .map(line => `${indent}${line}\n`)
    .join('')

/** A FluxInstance; `more`: further fields of its spec. */
export const instanceText = (sync: Sync, namespace = 'flux-system'): string => `apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata:
  name: flux
  namespace: ${namespace}
spec:
  distribution: {version: 2.x}
${sync.more ?? ''}${syncOf(sync, '  ')}`

/** A HelmRelease of the chart flux-instance. */
export const releaseText = (sync: Sync): string => `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: flux-instance
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: flux-instance}
  values:
    instance:
      cluster: {networkPolicy: false}
${syncOf(sync, '      ')}`

/** The values of that chart in a file of their own. */
export const valuesText = (sync: Sync): string => `instance:\n  components: [source-controller]\n${syncOf(sync, '  ')}`
