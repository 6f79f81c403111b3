package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// imageUser is the user of the program in the image. It has no name there.
const imageUser = 65532

// imageData is the only folder of the image that the program writes to.
const imageData = "/var/lib/orrery"

// Media types of the OCI image format.
const (
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
	configType   = "application/vnd.oci.image.config.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	indexType    = "application/vnd.oci.image.index.v1+json"
)

// descriptor refers to a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type imageManifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations"`
}

type imageIndex struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type imageConfig struct {
	Created      time.Time    `json:"created"`
	Architecture string       `json:"architecture"`
	OS           string       `json:"os"`
	Config       imageProcess `json:"config"`
	RootFS       imageRoot    `json:"rootfs"`
}

type imageProcess struct {
	User         string
	ExposedPorts map[string]struct{}
	Env          []string
	Entrypoint   []string
	Cmd          []string
	Volumes      map[string]struct{}
	WorkingDir   string
	Labels       map[string]string
	Healthcheck  imageProbe // an extension of Docker
}

type imageProbe struct {
	Test     []string
	Interval time.Duration
	Timeout  time.Duration
}

type imageRoot struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

// image is a container image in the OCI image layout: for each platform a layer with the program, and an index of them.
type image struct {
	version   string
	blobs     []file
	manifests []descriptor
}

// add adds a blob and returns a reference to it.
func (i *image) add(mediaType string, content []byte) descriptor {
	sum := sha256.Sum256(content)
	name := fmt.Sprintf("blobs/sha256/%x", sum)
	i.blobs = append(i.blobs, file{name, 0o644, content})
	return descriptor{MediaType: mediaType, Digest: fmt.Sprintf("sha256:%x", sum), Size: len(content)}
}

func (i *image) addJSON(mediaType string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	return i.add(mediaType, content), err
}

// addPlatform adds the image of a platform.
func (i *image) addPlatform(p platform, texts []file, program, licences []byte) error {
	layer, diffID, err := layerOf(texts, program, licences)
	if err != nil {
		return err
	}
	labels := map[string]string{
		"org.opencontainers.image.title":    "Orrery",
		"org.opencontainers.image.version":  i.version,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	config, err := i.addJSON(configType, imageConfig{
		Created: then, Architecture: p.arch, OS: p.os,
		Config: imageProcess{
			User:         fmt.Sprintf("%d:%[1]d", imageUser),
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			Env:          []string{"ORRERY_DATA=" + imageData, "ORRERY_LISTEN=0.0.0.0:8080"},
			Entrypoint:   []string{"/usr/bin/orrery"},
			Cmd:          []string{"serve"},
			Volumes:      map[string]struct{}{imageData: {}},
			WorkingDir:   imageData,
			Labels:       labels,
			Healthcheck: imageProbe{
				Test: []string{"CMD", "/usr/bin/orrery", "healthz"}, Interval: 30 * time.Second, Timeout: 10 * time.Second,
			},
		},
		RootFS: imageRoot{"layers", []string{diffID}},
	})
	if err != nil {
		return err
	}
	manifest, err := i.addJSON(manifestType, imageManifest{
		2, manifestType, config, []descriptor{i.add(layerType, layer)}, labels,
	})
	manifest.Platform = map[string]string{"os": p.os, "architecture": p.arch}
	i.manifests = append(i.manifests, manifest)
	return err
}

// layerOf returns a compressed layer, and the digest of the layer itself.
func layerOf(texts []file, program, licences []byte) (layer []byte, diffID string, err error) {
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	folder := func(name string, mode int64, user int) {
		header := &tar.Header{
			Typeflag: tar.TypeDir, Name: name, Mode: mode, Uid: user, Gid: user, ModTime: then,
		}
		err = errors.Join(err, w.WriteHeader(header))
	}
	folder("usr/", 0o755, 0)
	folder("usr/bin/", 0o755, 0)
	err = errors.Join(err, addToTar(w, file{"usr/bin/orrery", 0o755, program}))
	folder("usr/share/", 0o755, 0)
	folder("usr/share/doc/", 0o755, 0)
	folder("usr/share/doc/orrery/", 0o755, 0)
	for _, f := range below("usr/share/doc/orrery", append([]file{{licencesFile, 0o644, licences}}, texts...)) {
		err = errors.Join(err, addToTar(w, f))
	}
	folder("var/", 0o755, 0)
	folder("var/lib/", 0o755, 0)
	folder(imageData[1:]+"/", 0o700, imageUser)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, "", err
	}
	layer, err = gzipped(plain.Bytes())
	return layer, fmt.Sprintf("sha256:%x", sha256.Sum256(plain.Bytes())), err
}

// archive returns the layout as a tar, an "OCI archive". As tools expect, its index has one entry: the index of the
// platforms.
func (i *image) archive() ([]byte, error) {
	platforms, err := i.addJSON(indexType, imageIndex{2, indexType, i.manifests})
	if err != nil {
		return nil, err
	}
	platforms.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": i.version,
		"io.containerd.image.name":          "docker.io/library/orrery:" + i.version,
	}
	index, err := json.Marshal(imageIndex{2, indexType, []descriptor{platforms}})
	if err != nil {
		return nil, err
	}
	files := append([]file{
		{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {"index.json", 0o644, index},
	}, i.blobs...)
	sortFiles(files)
	return tarred(files)
}
