import type { Capabilities, Capability, NamingField } from './capability.ts'
import { withoutFields } from './without-fields.ts'

const of = (...fields: readonly NamingField[]): Capability => ({ scope: 'Namespaced', fields })
/** CDI asks whether the account may create `datavolumes/source` where the source is (pkg/clone). */
const cloned = (at: string): NamingField => ({
  at,
  names: 'volume',
  form: 'sibling',
  grantedBy: 'cdi.kubevirt.io/datavolumes/source',
})
const dataVolume = (at: string): readonly NamingField[] => [
  cloned(`${at}.source.pvc.namespace`),
  cloned(`${at}.source.snapshot.namespace`),
  cloned(`${at}.sourceRef.namespace`),
  cloned(`${at}.pvc.dataSourceRef.namespace`),
  cloned(`${at}.storage.dataSourceRef.namespace`),
  { at: `${at}.source.http.url`, names: 'service', form: 'url' },
  { at: `${at}.source.imageio.url`, names: 'service', form: 'url' },
]
const included: readonly NamingField[] = [
  { at: 'spec.includedNamespaces.*', names: 'namespace' },
  { at: 'spec', names: 'namespace', form: 'everywhere', unless: ['includedNamespaces'] },
]

/** A claim, also as a workload's template: a volume of the whole cluster, or what another claim of another namespace holds. */
const claim = (spec: string): readonly NamingField[] => [
  { at: `${spec}.dataSourceRef.namespace`, names: 'volume', form: 'sibling' },
  { at: `${spec}.volumeName`, names: 'clusterObject', says: 'PersistentVolume', level: 'warning' },
]
const ofPods = (pod: string, ...more: readonly NamingField[]): Capability =>
  of(...claim(`${pod}.volumes.*.ephemeral.volumeClaimTemplate.spec`), ...more)

/** Volumes and their copies: CDI and KubeVirt (staging/src), the snapshot controller (client/config/crd), Velero, VolSync, Rook. */
export const storage: Capabilities = {
  '/PersistentVolumeClaim': of(...claim('spec')),
  '/Pod': ofPods('spec'),
  '/PodTemplate': ofPods('template.spec'),
  '/ReplicationController': ofPods('spec.template.spec'),
  'apps/DaemonSet': ofPods('spec.template.spec'),
  'apps/Deployment': ofPods('spec.template.spec'),
  'apps/ReplicaSet': ofPods('spec.template.spec'),
  'apps/StatefulSet': ofPods('spec.template.spec', ...claim('spec.volumeClaimTemplates.*.spec')),
  'batch/CronJob': ofPods('spec.jobTemplate.spec.template.spec'),
  'batch/Job': ofPods('spec.template.spec'),
  'cdi.kubevirt.io/DataVolume': of(...dataVolume('spec')),
  'cdi.kubevirt.io/DataSource': of(...dataVolume('spec')),
  'cdi.kubevirt.io/DataImportCron': of(...dataVolume('spec.template.spec')),
  'cdi.kubevirt.io/VolumeCloneSource': of(cloned('spec.source.namespace')),
  'kubevirt.io/VirtualMachine': of(
    ...dataVolume('spec.dataVolumeTemplates.*.spec'),
    { at: 'spec.template.spec.networks.*.multus.networkName', names: 'object', form: 'path', shared: true },
    {
      at: 'spec.template.spec.volumes.*.hostDisk.path',
      names: 'hostPath',
      says: 'uses a file of the node as a disk',
    },
  ),
  'kubevirt.io/VirtualMachineInstance': of(
    { at: 'spec.networks.*.multus.networkName', names: 'object', form: 'path', shared: true },
    { at: 'spec.volumes.*.hostDisk.path', names: 'hostPath', says: 'uses a file of the node as a disk' },
  ),
  'snapshot.storage.k8s.io/VolumeSnapshot': of({
    at: 'spec.source.volumeSnapshotContentName',
    names: 'clusterObject',
    says: 'VolumeSnapshotContent',
  }),
  'groupsnapshot.storage.k8s.io/VolumeGroupSnapshot': of({
    at: 'spec.source.volumeGroupSnapshotContentName',
    names: 'clusterObject',
    says: 'VolumeGroupSnapshotContent',
  }),
  'velero.io/Backup': of(...included),
  'velero.io/Restore': of(...included, { at: 'spec.namespaceMapping.*', names: 'namespace' }),
  'velero.io/Schedule': of({ at: 'spec.template.includedNamespaces.*', names: 'namespace' }),
  ...withoutFields(
    [
      'volsync.backube/ReplicationDestination volsync.backube/ReplicationSource kubevirt.io/VirtualMachineInstanceMigration',
      'objectbucket.io/ObjectBucketClaim ceph.rook.io/CephObjectStoreUser ceph.rook.io/CephBlockPool ceph.rook.io/CephObjectStore ceph.rook.io/CephFilesystem ceph.rook.io/CephCluster',
      'velero.io/BackupStorageLocation velero.io/VolumeSnapshotLocation longhorn.io/RecurringJob',
    ].join(' '),
  ),
}
