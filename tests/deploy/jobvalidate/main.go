// Command jobvalidate judges Kubernetes Jobs as an API server would: strict decoding, the server's own
// defaults, the server's own rules. It needs no server.
//
//	jobvalidate FILE...
//
// Documents that are no Jobs are passed over. Every broken rule is one line "FILE#DOCUMENT: RULE"; the
// exit status is 1 when there is one, and when no Job was seen at all.
package main

import (
	"bytes"
	"fmt"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/batch/validation"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"sigs.k8s.io/yaml"
)

func main() {
	jobs, broken := 0, 0
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			fmt.Println(err)
			broken++
			continue
		}
		for number, document := range bytes.Split(text, []byte("\n---\n")) {
			if !isJob(document) {
				continue
			}
			jobs++
			name, rules := validate(document)
			for _, rule := range rules {
				fmt.Printf("%s#%d: %v\n", file, number+1, rule)
				broken++
			}
			if len(rules) == 0 {
				fmt.Printf("%s#%d: Job %s is valid\n", file, number+1, name)
			}
		}
	}
	if broken > 0 || jobs == 0 {
		os.Exit(1)
	}
}

func isJob(document []byte) bool {
	var kind metav1.TypeMeta
	return yaml.Unmarshal(document, &kind) == nil && kind.APIVersion == "batch/v1" && kind.Kind == "Job"
}

// validate gives the Job's name and every rule that it breaks.
func validate(document []byte) (string, []error) {
	job := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(document, job, yaml.DisallowUnknownFields); err != nil {
		return "", []error{err}
	}
	if job.Namespace == "" {
		job.Namespace = "default"
	}
	legacyscheme.Scheme.Default(job)
	internal := &batch.Job{}
	if err := legacyscheme.Scheme.Convert(job, internal, nil); err != nil {
		return job.Name, []error{err}
	}
	// A stored Job has a selector that the server makes; a template has none, like the file.
	template := &batch.JobTemplateSpec{ObjectMeta: internal.ObjectMeta, Spec: internal.Spec}
	var rules []error
	for _, rule := range validation.ValidateJobTemplateSpec(
		template, nil, field.NewPath("job"), corevalidation.PodValidationOptions{},
	) {
		rules = append(rules, rule)
	}
	return job.Name, rules
}
