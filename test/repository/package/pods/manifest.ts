import type { Json } from '../../../../src/kube/node.ts'

/** An object of the API server, with the fields that tests read. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

interface Source {
  readonly name?: string
  readonly secretName?: string
  readonly optional?: boolean
  readonly defaultMode?: number
  readonly items?: readonly { readonly key: string; readonly path: string }[]
}

export interface Volume {
  readonly name: string
  readonly secret?: Source
  readonly configMap?: Source
  readonly emptyDir?: { readonly sizeLimit?: string }
  readonly persistentVolumeClaim?: { readonly claimName: string }
  readonly projected?: { readonly defaultMode?: number; readonly sources: readonly ProjectedSource[] }
}

export interface ProjectedSource {
  readonly secret?: Source
  readonly configMap?: Source
  readonly serviceAccountToken?: {
    readonly path: string
    readonly expirationSeconds?: number
    readonly audience?: string
  }
  readonly downwardAPI?: {
    readonly items: readonly { readonly path: string; readonly fieldRef: { readonly fieldPath: string } }[]
  }
}

interface KeyRef {
  readonly name: string
  readonly key: string
  readonly optional?: boolean
}

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string | number }
  readonly tcpSocket?: { readonly port: string | number }
  readonly exec?: { readonly command: readonly string[] }
  readonly periodSeconds: number
  readonly failureThreshold: number
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef?: KeyRef; readonly configMapKeyRef?: KeyRef }
  }[]
  readonly envFrom?: readonly { readonly configMapRef?: KeyRef; readonly secretRef?: KeyRef }[]
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly securityContext?: { readonly readOnlyRootFilesystem?: boolean; readonly allowPrivilegeEscalation?: boolean }
}

/** A pod as the API server has it, defaults included. */
export interface Pod extends Manifest {
  readonly spec: {
    readonly serviceAccountName: string
    readonly automountServiceAccountToken?: boolean
    readonly terminationGracePeriodSeconds: number
    readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number; readonly fsGroup?: number }
    readonly containers: readonly Container[]
    readonly volumes: readonly Volume[]
  }
}

/** The value as the API server's client has it. */
export const asJson = (value: object): Json => value as Json
